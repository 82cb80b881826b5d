import { Counter, Gauge, type Registry } from 'prom-client';
import type { PressQueue } from '../../desk/jobs/press-queue.ts';
import type { AppContext } from '../../server/context.ts';
import type { QueueLength } from '../../store/vital-signs.ts';

/** The sources of the gauges. */
export interface MetricSources {
  app: AppContext;
  /** Null without the desk. */
  presses(): PressQueue | null;
}

/** Functions that set gauges for a scrape, by the name under which a failure is counted. */
export type Readings = Record<string, () => void>;

/** The same for disks, which are read asynchronously. */
export type DiskReadings = Record<string, () => Promise<void>>;

/** Sets a metric. A metric without labels takes `{}`. */
type Set<L extends string> = (labels: Partial<Record<L, string>>, value: number) => void;

export type SampledRegistry = ReturnType<typeof sampledRegistry>;

/** Registers metrics that are read for each scrape. `now` is the clock, in ms. */
export function sampledRegistry(registry: Registry, now: () => number) {
  /** Each one leaves a gauge out until it is set again. */
  const forgets: (() => void)[] = [];

  function gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    const made = new Gauge({ name: `broadsheet_${name}`, help, labelNames, registers: [registry] });
    const forget = () => {
      made.reset();
      // Without labels, a new or reset gauge is 0. Removed, because a value that was not read is not 0.
      if (labelNames.length === 0) made.remove();
    };
    forget();
    forgets.push(forget);
    return made;
  }

  /** A counter whose total is computed elsewhere. */
  function total<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Set<L> {
    const made = new Counter({ name: `broadsheet_${name}`, help, labelNames, registers: [registry] });
    const before = new Map<string, number>();
    return (labels, value) => {
      const key = JSON.stringify(labels);
      // Counters must never decrease.
      made.inc(labels, Math.max(0, value - (before.get(key) ?? 0)));
      before.set(key, value);
    };
  }

  /** The age of a moment in seconds; 0 when there is none. */
  const age = (at: number | null) => (at === null ? 0 : Math.max(0, now() - at) / 1_000);

  /** The two gauges of a queue: how many items are due, and for how long the first one has been due. */
  function queue<L extends string>(
    [name, oldest]: [name: string, oldest: string],
    what: string,
    labelNames: readonly L[] = [],
  ): (labels: Partial<Record<L, string>>, length: QueueLength) => void {
    const length = gauge(name, `${what} that are due, counted up to 10,000.`, labelNames);
    const dueFor = gauge(oldest, 'For how long the first one has been due.', labelNames);
    return (labels, { due, oldest_due_at }) => {
      length.set(labels, due);
      dueFor.set(labels, age(oldest_due_at));
    };
  }

  /** Leaves every gauge out until it is set again. */
  function forget(): void {
    for (const one of forgets) one();
  }

  return { gauge, total, age, queue, forget };
}

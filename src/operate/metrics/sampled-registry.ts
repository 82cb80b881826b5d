import { Counter, Gauge, type Registry } from 'prom-client';
import type { PressQueue } from '../../desk/jobs/press-queue.ts';
import type { AppContext } from '../../server/context.ts';
import type { QueueLength } from '../../store/vital-signs.ts';

/** What the gauges are read from. */
export interface MetricSources {
  app: AppContext;
  /** Null without the desk. */
  presses(): PressQueue | null;
}

/** What is read for a scrape, by the name under which a failure is counted. */
export type Readings = Record<string, () => void>;

/** The same of the disks, which take their time. */
export type DiskReadings = Record<string, () => Promise<void>>;

/** Sets a metric. One that has no labels takes `{}`. */
type Set<L extends string> = (labels: Partial<Record<L, string>>, value: number) => void;

/** Registers metrics that are read for each scrape. */
export class SampledRegistry {
  readonly #registry: Registry;
  readonly #now: () => number;
  /** Leave a gauge out until it is set again. */
  readonly #forget: (() => void)[] = [];

  /** `now` is the clock, in ms. */
  constructor(registry: Registry, now: () => number) {
    this.#registry = registry;
    this.#now = now;
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    const made = new Gauge({ name: `broadsheet_${name}`, help, labelNames, registers: [this.#registry] });
    const forget = () => {
      made.reset();
      // Without labels, a new gauge and one that was reset are 0; what was not read is not 0.
      if (labelNames.length === 0) made.remove();
    };
    forget();
    this.#forget.push(forget);
    return made;
  }

  /** A counter whose total is computed elsewhere. */
  total<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Set<L> {
    const made = new Counter({ name: `broadsheet_${name}`, help, labelNames, registers: [this.#registry] });
    const before = new Map<string, number>();
    return (labels, value) => {
      const key = JSON.stringify(labels);
      // A counter never falls.
      made.inc(labels, Math.max(0, value - (before.get(key) ?? 0)));
      before.set(key, value);
    };
  }

  /** The two gauges of a queue: how much is due, and for how long the first of it has been. */
  queue<L extends string>(
    [name, oldest]: [name: string, oldest: string],
    what: string,
    labelNames: readonly L[] = [],
  ): (labels: Partial<Record<L, string>>, length: QueueLength) => void {
    const length = this.gauge(name, `${what} that are due, counted up to 10,000.`, labelNames);
    const age = this.gauge(oldest, 'For how long the first one has been due.', labelNames);
    return (labels, { due, oldest_due_at }) => {
      length.set(labels, due);
      age.set(labels, this.age(oldest_due_at));
    };
  }

  /** The age of a moment in seconds; 0 when there is none. */
  age(at: number | null): number {
    return at === null ? 0 : Math.max(0, this.#now() - at) / 1_000;
  }

  /** Leaves every gauge out until it is set again. */
  forget(): void {
    for (const forget of this.#forget) forget();
  }
}

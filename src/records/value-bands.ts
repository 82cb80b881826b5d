import type { Delta, DomainBaseline } from './delta.ts';
import type { TrackedName } from './tracked-values.ts';
import type { historyOf } from './value-history.ts';

type Sighting = ReturnType<Awaited<ReturnType<typeof historyOf>>['page']>[number];

/** A period in which something was in the answers, in ms; `to` is null while it still is. */
export interface Band {
  from: number;
  to: number | null;
}

/** The periods in which one value of a signal was in the answers. */
export interface ValueBands {
  signal: TrackedName;
  value: string;
  bands: Band[];
}

/** A period between two changes of a signal; `count` is the number of its values then. */
export interface StateBand extends Band {
  count: number;
}

type Change = Pick<Delta, 'at' | 'signal' | 'before' | 'after'>;

/**
 * The periods of each value, from when it was first seen, except between a change that removed it and the change that
 * brought it back. `changes` are oldest first. A value that disappeared without a change, as in the answers of a
 * rotating pool, ends when it was last seen.
 */
export function valueBands(sightings: Sighting[], changes: Change[], baseline: DomainBaseline): ValueBands[] {
  const key = (signal: string, value: string): string => `${signal} ${value}`;
  const rows = new Map(
    sightings.map(({ signal, value, first_seen }) => [
      key(signal, value),
      { signal, value, bands: [{ from: first_seen, to: null }] as Band[] },
    ]),
  );
  for (const { at, signal, before, after } of changes) {
    const [was, is] = [new Set(before), new Set(after)];
    for (const value of was) {
      const last = rows.get(key(signal, value))?.bands.at(-1);
      if (!is.has(value) && last?.to === null && at > last.from) last.to = at;
    }
    for (const value of is) {
      const bands = rows.get(key(signal, value))?.bands;
      if (!was.has(value) && bands?.at(-1)?.to != null) bands.push({ from: at, to: null });
    }
  }
  for (const { signal, value, last_seen } of sightings) {
    const last = rows.get(key(signal, value))?.bands.at(-1);
    if (last?.to === null && !baseline[signal]?.values.includes(value)) last.to = Math.max(last.from, last_seen);
  }
  return [...rows.values()];
}

/**
 * The periods between the changes of a signal, from the first observation on (`since`, in ms). `changes` are those of
 * the signal, oldest first.
 */
export function stateBands(changes: Change[], since: number, count: number): StateBand[] {
  const [first] = changes;
  if (first === undefined) return [{ from: since, to: null, count }];
  return [
    { from: since, to: first.at, count: first.before.length },
    ...changes.map(({ at, after }, index) => ({ from: at, to: changes[index + 1]?.at ?? null, count: after.length })),
  ].filter(({ from, to }) => to === null || to > from);
}

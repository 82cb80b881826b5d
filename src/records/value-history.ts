import { trueTime } from '../proof/clock-note.ts';
import type { Observation } from '../proof/records/observation.ts';
import { signalsOf } from '../proof/records/record.ts';
import type { AppContext } from '../server/context.ts';
import { type TrackedValues, trackedValues } from './tracked-values.ts';

type Tables = Pick<AppContext['store'], 'records' | 'desk'>;
type Query = Parameters<Tables['records']['history']>[1];
type After = Parameters<Tables['records']['history']>[3];
type Sighting = ReturnType<Tables['records']['history']>[number];

/**
 * All values ever seen at a host (by its id), by signal and value. Older versions cut values at U+0000 in the database.
 * For hosts where an operator accepted that damage, the values are counted again from the signed `observations`, oldest
 * first.
 */
export async function historyOf(
  { records, desk }: Tables,
  host: number,
  observations: () => AsyncIterable<Observation>,
) {
  if (!records.isDamaged(host)) {
    return {
      page: (query: Query, limit: number, after?: After): Sighting[] => records.history(host, query, limit, after),
      count: (query: Query): number => records.historyCount(host, query),
    };
  }
  const sightings = new Sightings();
  const corrections = desk.corrections('records', '');
  for await (const { seq, record } of observations()) {
    sightings.add(trackedIn(record), trueTime(Date.parse(record.observed_at), seq, corrections));
  }
  const all = sightings.all().sort((a, b) => inOrder(a, b));
  const found = ({ signal, since = 0, until = Number.MAX_SAFE_INTEGER }: Query) =>
    all.filter((row) => (signal ?? row.signal) === row.signal && row.last_seen >= since && row.first_seen < until);
  return {
    page: (query: Query, limit: number, after?: After): Sighting[] =>
      found(query)
        .filter((row) => after === undefined || inOrder(row, after) > 0)
        .slice(0, limit),
    count: (query: Query): number => found(query).length,
  };
}

/** Counts the values in a host's observations, which must be added in order. */
export class Sightings {
  readonly #seen = new Map<string, Sighting>();

  /** `at` in ms. */
  add(tracked: TrackedValues, at: number): void {
    for (const [signal, values] of Object.entries(tracked) as [Sighting['signal'], string[] | null][]) {
      for (const value of values ?? []) {
        const known = this.#seen.get(`${signal} ${value}`);
        if (known === undefined) {
          this.#seen.set(`${signal} ${value}`, { signal, value, first_seen: at, last_seen: at, count: 1 });
        } else {
          known.last_seen = at;
          known.count++;
        }
      }
    }
  }

  all(): Sighting[] {
    return [...this.#seen.values()];
  }
}

export function trackedIn(record: Observation['record']): TrackedValues {
  return trackedValues({ ...record, signals: signalsOf(record) });
}

/** The database's order: by UTF-8 bytes. */
function inOrder(a: { signal: string; value: string }, b: { signal: string; value: string }): number {
  return (
    Buffer.compare(Buffer.from(a.signal), Buffer.from(b.signal)) ||
    Buffer.compare(Buffer.from(a.value), Buffer.from(b.value))
  );
}

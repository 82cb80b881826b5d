import { entriesOf } from '../../proof/narrow.ts';
import { trackedValues } from '../tracked-values.ts';
import type { ObservationRow } from './observation-row.ts';
import type { SightingRow } from './tables.ts';

/** The columns of observations from which sightings are computed. */
export const SEEN_COLUMNS = ['path', 'domain', 'observed_at', 'body'] as const;
type SeenRow = Pick<ObservationRow, (typeof SEEN_COLUMNS)[number]>;

/**
 * The most characters of one name's values in memory. When exceeded, the rows so far are written and counting restarts.
 */
const VALUES_MAX = 4_000_000;

/**
 * The values in observations, with their first and last times: one row per name, signal and value. Observations must be
 * sorted by name; the rows come in the same order. A name that has very many values, or is in several files, may have
 * several rows for a value, whose counts add up.
 */
export async function* sightingsOf(observations: AsyncIterable<SeenRow>): AsyncGenerator<SightingRow> {
  let seen = new Map<string, SightingRow>();
  let size = 0;
  let before: SeenRow | null = null;
  let values: [signal: string, value: string][] = [];
  for await (const row of observations) {
    const { path, domain, observed_at } = row;
    if (before?.path !== path || size > VALUES_MAX) {
      yield* seen.values();
      [seen, size] = [new Map(), 0];
    }
    if (before?.body !== row.body) values = valuesIn(row.body);
    for (const [signal, value] of values) {
      const key = `${signal} ${value}`;
      const known = seen.get(key);
      if (known === undefined) {
        seen.set(key, { path, domain, signal, value, first_seen: observed_at, last_seen: observed_at, count: 1 });
        size += key.length;
      } else {
        known.last_seen = observed_at;
        known.count++;
      }
    }
    before = row;
  }
  yield* seen.values();
}

/** The values that are compared from probe to probe. None for a damaged record, which an audit reports. */
function valuesIn(body: string): [signal: string, value: string][] {
  try {
    const { certificate, certificate_status, ...fields } = JSON.parse(body);
    const signals = Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) =>
        name.startsWith('signals.') ? [[name.slice('signals.'.length), field]] : [],
      ),
    );
    const tracked = trackedValues({ signals, certificate, certificate_status });
    return entriesOf(tracked).flatMap(([signal, all]) => (all ?? []).map((value): [string, string] => [signal, value]));
  } catch {
    return [];
  }
}

/** The order of a month's sightings by value. */
export function byValue(a: SightingRow, b: SightingRow): number {
  for (const key of ['value', 'path', 'signal'] as const) if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
  return 0;
}

import type { Baseline, DomainBaseline } from '../../records/delta.ts';
import type { TrackedValues } from '../../records/tracked-values.ts';
import { type Db, integer, json, type Read, sql, text } from '../../shared/sql/sql.ts';
import { SIGNAL } from './records-deltas.ts';

/** A value, the period in which it was seen, in ms, and the number of probes that showed it. */
const SIGHTING = { signal: SIGNAL, value: text, first_seen: integer, last_seen: integer, count: integer };
export type Sighting = Read<typeof SIGHTING>;

/** Selects sightings whose period overlaps `since` ≤ t < `until`. */
interface HistoryQuery {
  signal?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** The last known values of each host, and all values ever seen. `host` is a hostname's id. */
export function sightingTables(db: Db) {
  const { run, number, all } = sql(db);
  const selectBaseline = all('SELECT signal, "values", missing FROM standing WHERE host = ?', {
    signal: SIGNAL,
    values: json<Baseline['values']>(),
    missing: json<Baseline['missing']>(),
  });
  const setValues = run(
    `INSERT INTO standing VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET "values" = excluded."values", missing = excluded.missing`,
  );
  // One statement for all values of a probe.
  const addValues = run(
    `INSERT INTO sightings
     SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2, ?2, 1 FROM json_each(?3) WHERE true
     ON CONFLICT DO UPDATE SET last_seen = excluded.last_seen, count = count + 1`,
  );
  const filter = 'host = ?1 AND (?2 IS NULL OR signal = ?2) AND last_seen >= ?3 AND first_seen < ?4';
  const history = all(
    `SELECT signal, value, first_seen, last_seen, count FROM sightings
     WHERE ${filter} AND (signal, value) > (?5, ?6) ORDER BY signal, value LIMIT ?7`,
    SIGHTING,
  );
  const historyCount = number(`SELECT count(*) FROM sightings WHERE ${filter}`);
  const parameters = (host: number, { signal, since, until }: HistoryQuery) =>
    [host, signal ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER] as const;

  return {
    /** The last known values of each signal. */
    baseline: (host: number): DomainBaseline =>
      Object.fromEntries(selectBaseline(host).map(({ signal, ...rest }) => [signal, rest])),
    setBaseline(host: number, updates: DomainBaseline): void {
      for (const [signal, { values, missing }] of Object.entries(updates)) {
        setValues(host, signal, JSON.stringify(values), JSON.stringify(missing));
      }
    },
    /** Counts the values of one probe. Call it in chronological order of the probes. */
    addSightings(host: number, tracked: TrackedValues, at: number): void {
      const pairs = Object.entries(tracked).flatMap(([signal, values]) =>
        (values ?? []).map((value) => [signal, value]),
      );
      addValues(host, at, JSON.stringify(pairs));
    },
    /** A host's values by signal and value, after the given one if any. */
    history: (
      host: number,
      query: HistoryQuery,
      limit: number,
      after: { signal: string; value: string } = { signal: '', value: '' },
    ): Sighting[] => history(...parameters(host, query), after.signal, after.value, limit),
    historyCount: (host: number, query: HistoryQuery): number => historyCount(...parameters(host, query)),
  };
}

import type { Baseline, DomainBaseline } from '../records/delta.ts';
import type { TrackedName, TrackedValues } from '../records/tracked-values.ts';
import { SIGNAL } from './records-deltas.ts';
import { type Db, integer, json, sql, text } from './sql.ts';

/** A value and the period in which it was seen. Times in ms. */
export interface Sighting {
  signal: TrackedName;
  value: string;
  first_seen: number;
  last_seen: number;
  /** The number of probes that showed the value. */
  count: number;
}

/** Selects sightings whose period overlaps `since` ≤ t < `until`. */
export interface HistoryQuery {
  signal?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** The last known values of each host, and all values that were ever seen. `host` is a hostname's id. */
export interface SightingTables {
  /** The last known values of each signal. */
  baseline(host: number): DomainBaseline;
  setBaseline(host: number, updates: DomainBaseline): void;
  /** Counts the values of one probe. Call it in chronological order of the probes. */
  addSightings(host: number, tracked: TrackedValues, at: number): void;
  /** A host's values by signal and value, after the given one if any. */
  history(host: number, query: HistoryQuery, limit: number, after?: { signal: string; value: string }): Sighting[];
  historyCount(host: number, query: HistoryQuery): number;
}

export function sightingTables(db: Db): SightingTables {
  const { run, one, all } = sql(db);
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
    { signal: SIGNAL, value: text, first_seen: integer, last_seen: integer, count: integer },
  );
  const historyCount = one(`SELECT count(*) AS count FROM sightings WHERE ${filter}`, integer);
  const parameters = (host: number, { signal, since, until }: HistoryQuery) =>
    [host, signal ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER] as const;

  return {
    baseline: (host) => Object.fromEntries(selectBaseline(host).map(({ signal, ...rest }) => [signal, rest])),
    setBaseline(host, updates) {
      for (const [signal, { values, missing }] of Object.entries(updates)) {
        setValues(host, signal, JSON.stringify(values), JSON.stringify(missing));
      }
    },
    addSightings(host, tracked, at) {
      const pairs = Object.entries(tracked).flatMap(([signal, values]) =>
        (values ?? []).map((value) => [signal, value]),
      );
      addValues(host, at, JSON.stringify(pairs));
    },
    history: (host, query, limit, after) =>
      history(...parameters(host, query), after?.signal ?? '', after?.value ?? '', limit),
    historyCount: (host, query) => historyCount(...parameters(host, query)) ?? 0,
  };
}

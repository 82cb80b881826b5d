import type { Baseline, DomainBaseline } from '../records/delta.ts';
import type { Tracked, TrackedName } from '../records/tracked.ts';
import type { Db } from './open.ts';

/** When a value was seen. Times in ms. */
export interface Sighting {
  signal: TrackedName;
  value: string;
  first_seen: number;
  last_seen: number;
  /** In how many looks. */
  count: number;
}

/** Which sightings: those whose time from first to last touches `since` ≤ t < `until`. */
export interface HistoryQuery {
  signal?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** What stands of each host, and every value that was ever seen. `host` is a hostname's id. */
export function sightingTables(db: Db) {
  const standing = db.prepare('SELECT signal, "values", missing FROM standing WHERE host = ?');
  const setStanding = db.prepare(
    `INSERT INTO standing VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET "values" = excluded."values", missing = excluded.missing`,
  );
  // One statement for all values of a look.
  const saw = db.prepare(
    `INSERT INTO sightings
     SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2, ?2, 1 FROM json_each(?3) WHERE true
     ON CONFLICT DO UPDATE SET last_seen = excluded.last_seen, count = count + 1`,
  );
  const filter = 'host = ?1 AND (?2 IS NULL OR signal = ?2) AND last_seen >= ?3 AND first_seen < ?4';
  const history = db.prepare(
    `SELECT signal, value, first_seen, last_seen, count FROM sightings
     WHERE ${filter} AND (signal, value) > (?5, ?6) ORDER BY signal, value LIMIT ?7`,
  );
  const historyCount = db.prepare(`SELECT count(*) AS count FROM sightings WHERE ${filter}`);
  const parameters = (host: number, { signal, since, until }: HistoryQuery) =>
    [host, signal ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER] as const;

  return {
    /** The last known values of each signal. */
    standing: (host: number): DomainBaseline =>
      Object.fromEntries(
        (standing.all(host) as { signal: TrackedName; values: string; missing: string }[]).map(
          ({ signal, values, missing }) => [signal, { values: JSON.parse(values), missing: JSON.parse(missing) }],
        ),
      ),
    setStanding(host: number, news: DomainBaseline): void {
      for (const [signal, { values, missing }] of Object.entries(news) as [TrackedName, Baseline][]) {
        setStanding.run(host, signal, JSON.stringify(values), JSON.stringify(missing));
      }
    },
    /** Counts the values of one look. Looks come in the order of their times. */
    saw(host: number, tracked: Tracked, at: number): void {
      const pairs = Object.entries(tracked).flatMap(([signal, values]) =>
        (values ?? []).map((value) => [signal, value]),
      );
      saw.run(host, at, JSON.stringify(pairs));
    },
    /** A host's values by signal and value, after one; from the first without one. */
    history: (
      host: number,
      query: HistoryQuery,
      limit: number,
      after?: { signal: string; value: string },
    ): Sighting[] =>
      history.all(...parameters(host, query), after?.signal ?? '', after?.value ?? '', limit) as Sighting[],
    historyCount: (host: number, query: HistoryQuery): number =>
      (historyCount.get(...parameters(host, query)) as { count: number }).count,
  };
}

import { availableParallelism } from 'node:os';
import Database from 'libsql/promise';
import type { SearchFilter } from '../../desk/search.ts';
import { MINUTE } from '../../proof/time.ts';
import { BUSY_TIMEOUT } from '../../shared/sql/open.ts';
import { integer, json, orNull } from '../../shared/sql/sql.ts';
import { NEWEST_FIRST } from './pieces.ts';

/** A search in one paper. */
export interface Question {
  paper: string;
  /** The FTS5 query (`matchExpression`). */
  match: string;
  filter?: SearchFilter;
}

export interface Found {
  /** The paper's edition at the time of the search; null when the paper does not exist. */
  edition: number | null;
  /** Ids of pieces on air, newest first. */
  ids: string[];
}

export type SearchReader = ReturnType<typeof openSearchReader>;

/** Row ids of the index per minute: the most pieces of all papers that may go on air in one minute. */
export const ROOM = 2 ** 20;

/** The first minute of the year 10000. Row ids count down to it. */
const END = Date.UTC(10_000, 0) / MINUTE;

/** The last row id of the minute that begins at `at` (ms). Earlier minutes have greater ids. */
export const lastPlace = (at: number): number => (END - Math.floor(at / MINUTE)) * ROOM - 1;

/** The last parameters of `FOUND`: the lowest and the highest row id, at the limits of minutes, and the section. */
export function filterParameters({ section, year }: SearchFilter = {}): [number, number, string | null] {
  if (year === undefined) return [0, Number.MAX_SAFE_INTEGER, section ?? null];
  // `Date.UTC` maps the years 0 to 99 to 1900 to 1999.
  const start = (of: number) => lastPlace(new Date(0).setUTCFullYear(of, 0, 1));
  return [start(year + 1) + 1, start(year), section ?? null];
}

/** SQLite's code for a statement that was interrupted. */
export const INTERRUPTED = 'SQLITE_INTERRUPT';

/** Limits rows of `search`. FTS5 reads no further than the row ids if these are integers. */
const MATCHING = `search MATCH ?2 AND rowid >= CAST(?4 AS INTEGER) AND rowid <= CAST(?5 AS INTEGER)
      AND (?6 IS NULL OR EXISTS (SELECT 1 FROM searched h JOIN pieces o ON o.id = h.piece
        WHERE h.place = search.rowid AND o.category = ?6))`;

/**
 * Finds a paper's ids and edition in one statement, so in one state of the database. Parameters: the paper, an FTS5
 * query, the number of ids, and `filterParameters`. Row ids have the order of the times on air, except in a tangled
 * minute: then all matches of the last minute are sorted by time.
 */
export const FOUND = `WITH newest AS MATERIALIZED (
    SELECT rowid AS place FROM search WHERE ${MATCHING} ORDER BY rowid LIMIT ?3
  )
  SELECT (SELECT edition FROM papers WHERE slug = ?1 AND removed_at IS NULL) AS edition,
    CASE WHEN (SELECT max(s.tangled) FROM newest n JOIN searched s ON s.place = n.place) THEN (
      SELECT json_group_array(id) FROM (
        SELECT p.id FROM (
          SELECT place FROM newest UNION
          SELECT rowid FROM search, (SELECT max(place) / ${ROOM} * ${ROOM} AS start FROM newest) minute
            WHERE ${MATCHING} AND rowid >= minute.start AND rowid < minute.start + ${ROOM}) f
        JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST} LIMIT ?3)
    ) ELSE (
      SELECT json_group_array(id) FROM (
        SELECT s.piece AS id FROM newest n CROSS JOIN searched s ON s.place = n.place ORDER BY n.place)
    ) END AS ids`;
export const FOUND_ROW = { edition: orNull(integer), ids: json<string[]>() };

// libSQL starts one thread per processor. On a machine with one, a slow search would block all others.
// biome-ignore lint/style/noProcessEnv: libSQL's runtime has no other setting.
process.env.TOKIO_WORKER_THREADS ??= `${Math.max(3, availableParallelism())}`;

/** Opens a connection that searches on libSQL's threads. Answers have at most `limit` ids. */
export function openSearchReader(file: string, limit: number) {
  const db = new Database(file, {});
  const prepared = prepare(db);
  // `found` reports the error.
  prepared.catch(() => undefined);
  return {
    /** Answers one question at a time. Rejects with SQLite's error; its code is `INTERRUPTED` after `interrupt`. */
    async found({ paper, match, filter }: Question): Promise<Found> {
      // `all` searches on another thread up to the first row; `get` does not.
      const [[edition, ids] = []]: unknown[][] = await (await prepared).all([
        paper,
        match,
        limit,
        ...filterParameters(filter),
      ]);
      return { edition: FOUND_ROW.edition(edition), ids: FOUND_ROW.ids(ids) };
    },
    /** Ends the running question. Has no effect on one that has not begun yet. */
    interrupt: (): void => db.interrupt(),
    /** Call it when no question is running. */
    close: (): void => db.close(),
  };
}

async function prepare(db: Database) {
  for (const pragma of [`busy_timeout = ${BUSY_TIMEOUT}`, 'query_only = ON', 'cache_size = -8192']) {
    await db.exec(`PRAGMA ${pragma}`);
  }
  return (await db.prepare(FOUND)).raw();
}

import type { Row } from '../desk/archive.ts';
import { integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { NEWEST_FIRST } from './pieces.ts';
import type { Reading } from './sql.ts';
import { sql } from './sql.ts';

/** Row ids per minute, which is the most pieces of all papers that may go on air in one minute. */
export const ROOM = 2 ** 20;

/** A search in one paper. */
export interface Question {
  paper: string;
  /** The FTS5 query (`matchExpression`). */
  match: string;
  /** The most ids to answer with. */
  limit: number;
}

export interface Found {
  /** The paper's edition in which they were found; null when the paper does not exist. */
  edition: number | null;
  /** Ids of pieces on air, newest first. */
  ids: string[];
  /** Those of their rows that were wanted. */
  rows: Row[];
}

const EDITION = '(SELECT edition FROM papers WHERE slug = ?1 AND removed_at IS NULL) AS edition';
const IDS = 'group_concat(id, char(10)) AS ids';

/**
 * What one state of the database answers, in one row: a row each costs several times as much to read. Row ids tell the
 * order, unless `tangled` is 1.
 */
export const BY_ROW_ID = `SELECT ${EDITION}, ${IDS}, max(tangled) AS tangled FROM (
  SELECT s.piece AS id, s.tangled FROM (
    SELECT rowid AS place FROM search WHERE search MATCH ?2 ORDER BY rowid LIMIT ?3) f
  CROSS JOIN searched s ON s.place = f.place ORDER BY f.place)`;

/** The same in the order of the times on air: of the first row ids and all others in the minute of the last one. */
export const BY_TIME = `WITH newest AS MATERIALIZED (
    SELECT rowid AS place FROM search WHERE search MATCH ?2 ORDER BY rowid LIMIT ?3),
  minute AS MATERIALIZED (SELECT max(place) / ${ROOM} * ${ROOM} AS start FROM newest)
  SELECT ${EDITION}, ${IDS}, NULL AS tangled FROM (
    SELECT p.id FROM (
      SELECT place FROM newest UNION
      SELECT rowid FROM search WHERE search MATCH ?2
        AND rowid >= (SELECT start FROM minute) AND rowid < (SELECT start FROM minute) + ${ROOM}) f
    JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST} LIMIT ?3)`;

/** The row of either statement. */
export const FOUND = {
  edition: orNull(integer),
  ids: orNull(text),
  tangled: orNull(integer),
} as const satisfies Reading;

/** A row of `BY_ROW_ID` or `BY_TIME` as what it says. */
export function foundIn({ edition, ids }: { edition: number | null; ids: string | null }): Found {
  return { edition, ids: ids === null ? [] : ids.split('\n'), rows: [] };
}

/** Reads from the full-text index on this thread. */
export function searchReads(db: Db) {
  const { one } = sql(db);
  const byRowId = one(BY_ROW_ID, FOUND);
  const byTime = one(BY_TIME, FOUND);
  return {
    /** Ids of the pieces that match, newest first. */
    ids({ paper, match, limit }: Question): string[] {
      const quick = byRowId(paper, match, limit);
      const row = quick?.tangled === 1 ? byTime(paper, match, limit) : quick;
      return row === null ? [] : foundIn(row).ids;
    },
  };
}

import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { NEWEST_FIRST } from './pieces.ts';
import { sql } from './sql.ts';

/**
 * Row ids per minute, which is the most pieces of all papers that may go on air in one minute. Row ids up to the year
 * 9999 are safe integers.
 */
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
}

/** Reads from the full-text index. It needs no other table's code, so that reader threads start fast and stay small. */
export function searchReads(db: Db) {
  const { one, all } = sql(db);
  const matches = all(
    `SELECT p.id, s.place
     FROM (SELECT rowid AS place FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?) f
     JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST}`,
    { id: text, place: integer },
  );
  const outOfOrder = one('SELECT 1 FROM searched WHERE place >= ? AND place < ? AND tangled = 1 LIMIT 1', integer);
  const matchesInMinute = all(
    `SELECT p.id FROM pieces p WHERE p.id IN (
       SELECT s.piece FROM search JOIN searched s ON s.place = search.rowid
       WHERE search MATCH ? AND search.rowid >= ? AND search.rowid < ?)
     ${NEWEST_FIRST} LIMIT ?`,
    text,
  );
  const edition = one('SELECT edition FROM papers WHERE slug = ? AND removed_at IS NULL', integer);

  const startOfMinute = (at: number): number => Math.floor(at / ROOM) * ROOM;

  /** Ids of the pieces that match, newest first. */
  function ids(match: string, limit: number): string[] {
    // One more than the limit, to see whether the last minute continues on the next page.
    const all = matches(match, limit + 1);
    const page = all.slice(0, limit);
    const idsOf = (list: { id: string }[]): string[] => list.map(({ id }) => id);
    const [last, next] = [page.at(-1), all[limit]];
    if (last === undefined || next === undefined) return idsOf(page);
    const start = startOfMinute(last.place);
    if (startOfMinute(next.place) !== start || outOfOrder(start, start + ROOM) === null) {
      return idsOf(page);
    }
    const sure = page.filter(({ place }) => place >= start + ROOM);
    return [...idsOf(sure), ...matchesInMinute(match, start, start + ROOM, limit - sure.length)];
  }

  return {
    ids,
    /** What one state of the database answers, with the edition of that state. Call it outside a transaction. */
    found({ paper, match, limit }: Question): Found {
      db.exec('BEGIN');
      try {
        return { edition: edition(paper), ids: ids(match, limit) };
      } finally {
        db.exec('COMMIT');
      }
    },
  };
}

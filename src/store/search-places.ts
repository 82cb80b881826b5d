import { MINUTE } from '../time.ts';
import { type Db, flag, integer, orNull, type Read, sql, text } from './sql.ts';

const SHOWN = {
  paper: text,
  state: text,
  published_at: orNull(integer),
  generation: integer,
  place: orNull(integer),
  indexed: orNull(integer),
};
export type Shown = Read<typeof SHOWN>;

/** Row ids per minute, which is the most pieces of all papers that may go on air in one minute. */
export const ROOM = 2 ** 20;

/** The first minute of the year 10000. */
const END = Date.UTC(10_000, 0) / MINUTE;

/**
 * The row ids of pieces in the full-text index. They fall with the time on air, because FTS5 reads upwards in two thirds
 * of the time, and searches want the newest first. All from the year -6000 to 9999 are safe integers above zero.
 */
export function searchPlaces(db: Db) {
  const { run, one } = sql(db);
  const lastOfMinute = one(
    `SELECT s.place, s.tangled, p.published_at, p.id FROM searched s JOIN pieces p ON p.id = s.piece
     WHERE s.place > ? AND s.place <= ? ORDER BY s.place LIMIT 1`,
    { place: integer, tangled: flag, published_at: integer, id: text },
  );
  const insert = run('INSERT INTO searched VALUES (?, ?, ?, ?)');

  const startOf = (at: number): number => (END - Math.floor(at / MINUTE)) * ROOM - 1;

  function free(piece: string, at: number): { place: number; isOutOfOrder: boolean } {
    const start = startOf(at);
    const last = lastOfMinute(start - ROOM, start);
    if (last === null) return { place: start, isOutOfOrder: false };
    const inOrder = at > last.published_at || (at === last.published_at && piece > last.id);
    // Entries after an out-of-order entry are also flagged, because that entry and its flag may be removed later.
    return { place: last.place - 1, isOutOfOrder: !inOrder || last.tangled };
  }

  return {
    /** A piece as it is shown, and where it is indexed. */
    shown: one(
      `SELECT p.paper, p.state, p.published_at, p.generation, s.place, s.generation AS indexed
       FROM pieces p LEFT JOIN searched s ON s.piece = p.id WHERE p.id = ?`,
      SHOWN,
    ),
    /** The first row id of the minute of `at` (ms). */
    startOf,
    /** Which row id `take` would give. */
    next: (piece: string, at: number): number => free(piece, at).place,
    /** Gives a piece that went on air at `at` (ms) the next row id of that minute. */
    take(piece: string, at: number, generation: number): number {
      const { place, isOutOfOrder } = free(piece, at);
      insert(place, piece, generation, isOutOfOrder ? 1 : 0);
      return place;
    },
  };
}

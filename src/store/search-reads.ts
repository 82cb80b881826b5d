import type { IndexQuery } from '../desk/search.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { NEWEST_FIRST } from './pieces.ts';
import type { Param } from './sql.ts';
import { sql } from './sql.ts';

/**
 * Row ids per minute, which is the most pieces of all papers that may go on air in one minute. Row ids up to the year
 * 9999 are safe integers.
 */
export const ROOM = 2 ** 20;

/** The most terms of a query, each of which may be a phrase: `TERMS_MAX`, without its module. */
const TERMS_MAX = 4;

/** A search in one paper. */
export interface Question extends IndexQuery {
  paper: string;
  /** The most ids to answer with. */
  limit: number;
}

export interface Found {
  /** The paper's edition in which they were found; null when the paper does not exist. */
  edition: number | null;
  /** Ids of pieces on air, newest first. */
  ids: string[];
}

/** How many pairs of words are looked for in the filter of a text before the text is read. */
const PAIRS = 4;
const [ALL, ...WITH_BIT] = [-1, 0, 1, 2, 3, 4, 5, 6, 7].map((bit) =>
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => bit < 0 || ((byte >> bit) & 1) === 1)),
) as [Buffer, ...Buffer[]];

/** Whether a text may have these pairs, and has these phrases: SQL has no bits of a blob, but finds a byte in a list. */
const PHRASES = [
  ...Array.from({ length: PAIRS }, () => 'instr(?, substr(b.filter, 1 + ? % length(b.filter), 1)) > 0'),
  ...Array.from({ length: TERMS_MAX }, () => 'instr(t.words, ?) > 0'),
].join(' AND ');

/** The parameters of `PHRASES`. Every list of bytes has the bytes of no pair, and every text an empty phrase. */
function phraseParams({ phrases, pairs }: IndexQuery): Param[] {
  return [
    ...Array.from({ length: PAIRS }, (_, n) => pairs[n]).flatMap((pair) =>
      pair === undefined ? [ALL, 0] : [WITH_BIT[pair.bit] ?? ALL, pair.byte],
    ),
    ...Array.from({ length: TERMS_MAX }, (_, n) => phrases[n] ?? ''),
  ];
}

/** Reads from the full-text index. It needs no other table's code, so that reader threads start fast and stay small. */
export function searchReads(db: Db) {
  const { one, all } = sql(db);
  const rows = (matching: string): string =>
    `SELECT p.id, s.place FROM (${matching} LIMIT ?) f
     JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST}`;
  const row = { id: text, place: integer };
  const withTokens = all(rows('SELECT rowid AS place FROM search WHERE search MATCH ? ORDER BY rowid DESC'), row);
  // The join order is fixed, so that the rows come newest first without a sort.
  const withPhrases = all(
    rows(
      `SELECT m.rowid AS place FROM search m CROSS JOIN search_filters b ON b.place = m.rowid
       CROSS JOIN search_texts t ON t.place = m.rowid
       WHERE m.search MATCH ? AND ${PHRASES} ORDER BY m.rowid DESC`,
    ),
    row,
  );
  const outOfOrder = one('SELECT 1 FROM searched WHERE place >= ? AND place < ? AND tangled = 1 LIMIT 1', integer);
  const matchesInMinute = all(
    `SELECT p.id FROM pieces p WHERE p.id IN (
       SELECT s.piece FROM search m JOIN searched s ON s.place = m.rowid
         JOIN search_filters b ON b.place = m.rowid JOIN search_texts t ON t.place = m.rowid
       WHERE m.search MATCH ? AND ${PHRASES} AND m.rowid >= ? AND m.rowid < ?)
     ${NEWEST_FIRST} LIMIT ?`,
    text,
  );
  const edition = one('SELECT edition FROM papers WHERE slug = ? AND removed_at IS NULL', integer);

  const startOfMinute = (at: number): number => Math.floor(at / ROOM) * ROOM;

  /** Ids of the pieces that match, newest first. */
  function ids(query: IndexQuery, limit: number): string[] {
    const { match, phrases } = query;
    const params = phraseParams(query);
    // One more than the limit, to see whether the last minute continues on the next page.
    const all = phrases.length === 0 ? withTokens(match, limit + 1) : withPhrases(match, ...params, limit + 1);
    const page = all.slice(0, limit);
    const idsOf = (list: { id: string }[]): string[] => list.map(({ id }) => id);
    const [last, next] = [page.at(-1), all[limit]];
    if (last === undefined || next === undefined) return idsOf(page);
    const start = startOfMinute(last.place);
    if (startOfMinute(next.place) !== start || outOfOrder(start, start + ROOM) === null) {
      return idsOf(page);
    }
    const sure = page.filter(({ place }) => place >= start + ROOM);
    return [...idsOf(sure), ...matchesInMinute(match, ...params, start, start + ROOM, limit - sure.length)];
  }

  return {
    ids,
    /** What one state of the database answers, with the edition of that state. Call it outside a transaction. */
    found({ paper, limit, ...query }: Question): Found {
      db.exec('BEGIN');
      try {
        return { edition: edition(paper), ids: ids(query, limit) };
      } finally {
        db.exec('COMMIT');
      }
    },
  };
}

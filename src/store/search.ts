import { indexText, matchExpression, NORMALIZER_VERSION } from '../desk/search.ts';
import { MINUTE } from '../time.ts';
import { flag, integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { ROOM, searchReads } from './search-reads.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

/** How many pieces one transaction indexes when the index is rebuilt. */
const BATCH = 200;
/** From so many pieces on, a transaction writes its words as bulk, and leaves most merging to `optimize`. */
const BULK = 20;
/**
 * How FTS5 writes the words of a transaction: how many segments of one size it merges as it goes, and how many bytes of
 * words it buffers before it writes a segment. Merging none (0) would let FTS5 merge whole levels in one transaction.
 */
const WRITING = { usual: { automerge: 4, hashsize: 2 ** 20 }, bulk: { automerge: 8, hashsize: 2 ** 24 } };
/** How much of the index one step of `optimize` rewrites, in pages of 4 kB. */
const STEP = 2_000;
export type SearchTables = ReturnType<typeof searchTables>;

/** The full-text index of all pieces on air, updated in the transactions that change them. */
export function searchTables(db: Db, transact: Transact) {
  const { run, one, all } = sql(db);
  const shown = one(
    `SELECT p.paper, p.state, p.published_at, p.generation, s.place, s.generation AS indexed
     FROM pieces p LEFT JOIN searched s ON s.piece = p.id WHERE p.id = ?`,
    {
      paper: text,
      state: text,
      published_at: orNull(integer),
      generation: integer,
      place: orNull(integer),
      indexed: orNull(integer),
    },
  );
  const textOf = one('SELECT headline, dek, prose FROM generations WHERE n = ?', {
    headline: text,
    dek: text,
    prose: text,
  });
  const lastOfMinute = one(
    `SELECT s.place, s.tangled, p.published_at, p.id FROM searched s JOIN pieces p ON p.id = s.piece
     WHERE s.place >= ? AND s.place < ? ORDER BY s.place DESC LIMIT 1`,
    { place: integer, tangled: flag, published_at: integer, id: text },
  );
  const place = run('INSERT INTO searched VALUES (?, ?, ?, ?)');
  const renew = run('UPDATE searched SET generation = ? WHERE place = ?');
  const displace = run('DELETE FROM searched WHERE place = ?');
  const index = run('INSERT INTO search (rowid, words) VALUES (?, ?)');
  const strike = run('DELETE FROM search WHERE rowid = ?');

  const reads = searchReads(db);

  const state = one('SELECT folding, filled FROM search_state', { folding: integer, filled: flag });
  const begin = run('UPDATE search_state SET folding = ?, filled = 0');
  const end = run('UPDATE search_state SET filled = 1');
  const missing = all(
    `SELECT id, published_at FROM pieces p WHERE state = 'on_air' AND (published_at, id) > (?, ?)
       AND NOT EXISTS (SELECT 1 FROM searched WHERE piece = p.id)
     ORDER BY published_at, id LIMIT ?`,
    { id: text, published_at: integer },
  );

  const merge = run("INSERT INTO search (search, rank) VALUES ('merge', ?)");
  const configure = run('INSERT INTO search (search, rank) VALUES (?, CAST(? AS INTEGER))');
  const writeAs = (settings: (typeof WRITING)['bulk']): void => {
    for (const [name, value] of Object.entries(settings)) configure(name, value);
  };
  const changes = one('SELECT total_changes()', integer);
  const changed = (): number => changes() ?? 0;

  const minuteOf = (at: number): number => Math.floor(at / MINUTE) * ROOM;

  function placeFor(piece: string, at: number): { place: number; isOutOfOrder: boolean } {
    const start = minuteOf(at);
    const last = lastOfMinute(start, start + ROOM);
    if (last === null) return { place: start, isOutOfOrder: false };
    const inOrder = at > last.published_at || (at === last.published_at && piece > last.id);
    // Entries after an out-of-order entry are also flagged, because that entry and its flag may be removed later.
    return { place: last.place + 1, isOutOfOrder: !inOrder || last.tangled };
  }

  /** Assigns or removes a piece's row id; returns what to index there, or null. */
  function takePlace(piece: string): { place: number; paper: string; generation: number } | null {
    const now = shown(piece);
    if (now === null) return null;
    if (now.place !== null && (now.state !== 'on_air' || now.indexed !== now.generation)) strike(now.place);
    if (now.state !== 'on_air') {
      if (now.place !== null) displace(now.place);
      return null;
    }
    if (now.indexed === now.generation) return null;
    if (now.place !== null) {
      renew(now.generation, now.place);
      return { place: now.place, paper: now.paper, generation: now.generation };
    }
    const free = placeFor(piece, now.published_at ?? 0);
    place(free.place, piece, now.generation, free.isOutOfOrder ? 1 : 0);
    return { place: free.place, paper: now.paper, generation: now.generation };
  }

  const changedPieces = new Set<string>();

  /**
   * Updates the index for the changed pieces, as the last step of a transaction. FTS5 buffers words in memory until
   * another statement may need its own rollback, or until a row id is lower than the last one. So all words of a
   * transaction are written together, in the order of their row ids.
   */
  function flush(): void {
    const isBulk = changedPieces.size >= BULK;
    if (isBulk) writeAs(WRITING.bulk);
    const due = [...changedPieces].map(takePlace).filter((one) => one !== null);
    changedPieces.clear();
    for (const { place, paper, generation } of due.sort((a, b) => a.place - b.place)) {
      const words = textOf(generation);
      if (words === null) throw new Error(`there is no generation ${generation}`);
      index(place, indexText(paper, words));
    }
    // FTS5 writes what it buffers before it takes a setting, so these words are written as bulk.
    if (isBulk) writeAs(WRITING.usual);
  }

  /**
   * Indexes the pieces on air that are not indexed yet, because the database is older than the search or the normalizer
   * changed.
   */
  function fill(): void {
    const { folding, filled } = state() ?? { folding: 0, filled: false };
    if (folding === NORMALIZER_VERSION && filled) return;
    transact(() => {
      // Another process may have started the rebuild in the meantime.
      if (state()?.folding === NORMALIZER_VERSION) return;
      db.exec("DELETE FROM searched; INSERT INTO search (search) VALUES ('delete-all')");
      begin(NORMALIZER_VERSION);
    });
    let last = { published_at: Number.MIN_SAFE_INTEGER, id: '' };
    for (let more = true; more; ) {
      more = transact(() => {
        const batch = missing(last.published_at, last.id, BATCH);
        for (const { id } of batch) changedPieces.add(id);
        flush();
        last = batch.at(-1) ?? last;
        if (batch.length === 0) end();
        return batch.length > 0;
      });
    }
    optimize();
  }

  /**
   * Merges the segments left by many writes, which halves the time of a search. It works in steps, between which others
   * may write.
   */
  function optimize(): void {
    // A negative number starts with all segments. FTS5 reports two or more changes while work is left.
    for (let step = -STEP; ; step = STEP) {
      const before = changed();
      transact(() => merge(step));
      if (changed() - before < 2) return;
    }
  }

  /** Ids of one paper's pieces that contain all the terms, newest first; none without terms. */
  function search(paper: string, terms: readonly string[], limit: number): string[] {
    if (terms.length === 0) return [];
    return reads.ids({ paper, match: matchExpression(paper, terms), limit });
  }

  return {
    /** Marks a piece as changed. `flush` indexes it; `forget` drops the mark when the transaction is rolled back. */
    note: (piece: string): unknown => changedPieces.add(piece),
    flush,
    forget: (): void => changedPieces.clear(),
    fill,
    optimize,
    search,
  };
}

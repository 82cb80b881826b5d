import { indexText, matchExpression, NORMALIZER_VERSION, type SearchFilter } from '../../desk/search.ts';
import { type Db, flag, integer, orNull, type Read, sql, type Transact, text } from '../../shared/sql/sql.ts';
import { FOUND, FOUND_ROW, filterParameters, lastPlace, ROOM } from './search-reader.ts';

/** How many pieces are indexed per transaction when the index is rebuilt. */
const BATCH = 200;
/** How much of the index one step of `optimize` rewrites, in pages of 4 kB. */
const STEP = 2_000;

const SHOWN = {
  paper: text,
  state: text,
  published_at: orNull(integer),
  generation: integer,
  place: orNull(integer),
  indexed: orNull(integer),
};
type Shown = Read<typeof SHOWN>;

export type SearchTables = ReturnType<typeof searchTables>;

/** The full-text index of all pieces on air, updated in the transactions that change them. */
export function searchTables(db: Db, transact: Transact) {
  const { run, one, number, all } = sql(db);
  const shown = one(
    `SELECT p.paper, p.state, p.published_at, p.generation, s.place, s.generation AS indexed
     FROM pieces p LEFT JOIN searched s ON s.piece = p.id WHERE p.id = ?`,
    SHOWN,
  );
  const lastOfMinute = one(
    `SELECT s.place, s.tangled, p.published_at, p.id FROM searched s JOIN pieces p ON p.id = s.piece
     WHERE s.place > ? AND s.place <= ? ORDER BY s.place LIMIT 1`,
    { place: integer, tangled: flag, published_at: integer, id: text },
  );
  const occupy = run('INSERT INTO searched VALUES (?, ?, ?, ?)');
  const textOf = one('SELECT headline, dek, prose FROM generations WHERE n = ?', {
    headline: text,
    dek: text,
    prose: text,
  });
  const renew = run('UPDATE searched SET generation = ? WHERE place = ?');
  const displace = run('DELETE FROM searched WHERE place = ?');
  const index = run('INSERT INTO search (rowid, words) VALUES (?, ?)');
  const strike = run('DELETE FROM search WHERE rowid = ?');

  const found = one(FOUND, FOUND_ROW);

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
  const changed = number('SELECT total_changes()');

  /**
   * Gives a piece that went on air at `at` (ms) the next row id of that minute. Row ids decrease with the time on air:
   * searches want the newest first, and FTS5 takes a third less time when it reads upwards. For the years -6000 to
   * 9999, all row ids are safe integers above zero.
   */
  function newPlace(piece: string, at: number, generation: number): number {
    const start = lastPlace(at);
    const last = lastOfMinute(start - ROOM, start);
    const inOrder = last === null || at > last.published_at || (at === last.published_at && piece > last.id);
    // Entries after an out-of-order entry are also flagged, because that entry and its flag may be removed later.
    const place = last === null ? start : last.place - 1;
    occupy(place, piece, generation, inOrder && !last?.tangled ? 0 : 1);
    return place;
  }

  /** Assigns or removes a piece's row id; returns what to index there, or null. */
  function takePlace(piece: string): { place: number; now: Shown } | null {
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
      return { place: now.place, now };
    }
    return { place: newPlace(piece, now.published_at ?? 0, now.generation), now };
  }

  function wordsOf({ paper, generation }: Shown): string {
    const texts = textOf(generation);
    if (texts === null) throw new Error(`there is no generation ${generation}`);
    return indexText(paper, texts);
  }

  const changedPieces = new Set<string>();

  /**
   * Updates the index for the changed pieces, as the last step of a transaction. FTS5 buffers words in memory until
   * another statement may need its own rollback, or until a row id is lower than the last one. So all words of a
   * transaction are written together, in the order of their row ids.
   */
  function flush(): void {
    const due = [...changedPieces].map(takePlace).filter((one) => one !== null);
    changedPieces.clear();
    for (const { place, now } of due.sort((a, b) => a.place - b.place)) index(place, wordsOf(now));
  }

  /**
   * Indexes the pieces on air that are missing from the index, because the database is older than the search, the
   * normalizer changed, or a process of an earlier version ended during an import.
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
    for (let goesOn = true; goesOn; ) {
      goesOn = transact(() => {
        const batch = missing(last.published_at, last.id, BATCH);
        const newest = batch.at(-1);
        if (newest === undefined) return end() === 0;
        last = newest;
        for (const { id } of batch) changedPieces.add(id);
        flush();
        return true;
      });
    }
    optimize();
  }

  /**
   * Merges the segments left by many writes, which halves the time of a search. Works in steps, between which others
   * may write.
   */
  function optimize(): void {
    let before: number;
    do {
      before = changed();
      transact(() => merge(STEP));
      // FTS5 reports two or more changes while work is left.
    } while (changed() - before >= 2);
  }

  /** Ids of one paper's pieces that contain all the terms, newest first; none without terms. */
  function search(paper: string, terms: readonly string[], limit: number, filter?: SearchFilter): string[] {
    if (terms.length === 0) return [];
    return found(paper, matchExpression(paper, terms), limit, ...filterParameters(filter))?.ids ?? [];
  }

  return {
    /** Marks a piece as changed. `flush` indexes it; `forget` undoes that when the transaction is rolled back. */
    note: (piece: string): unknown => changedPieces.add(piece),
    flush,
    forget: (): void => changedPieces.clear(),
    fill,
    optimize,
    search,
  };
}

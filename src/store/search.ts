import { FOLDING, indexText, matchExpression } from '../desk/search.ts';
import { MINUTE } from '../time.ts';
import type { Db } from './open.ts';
import { NEWEST_FIRST } from './pieces.ts';

/** How many pieces are indexed in one transaction when an index is made again. */
const BATCH = 200;
/** How much of the index one step of `settle` rewrites, in its pages of 4 kB. */
const STEP = 2_000;
/**
 * Room for the pieces that go on air within one minute, all papers together.
 * Places up to the year 9999 are whole numbers that JavaScript holds exactly.
 */
const ROOM = 2 ** 20;

interface Shown {
  paper: string;
  state: string;
  published_at: number;
  generation: number;
  place: number | null;
  indexed: number | null;
}

/** The index of the words of all pieces on air, kept in the transactions that change those. */
export function searchTables(db: Db, transact: <T>(work: () => T) => T) {
  const shown = db.prepare(
    `SELECT p.paper, p.state, p.published_at, p.generation, s.place, s.generation AS indexed
     FROM pieces p LEFT JOIN searched s ON s.piece = p.id WHERE p.id = ?`,
  );
  const text = db.prepare('SELECT headline, dek, prose FROM generations WHERE n = ?');
  const lastOfMinute = db.prepare(
    `SELECT s.place, s.tangled, p.published_at, p.id FROM searched s JOIN pieces p ON p.id = s.piece
     WHERE s.place >= ? AND s.place < ? ORDER BY s.place DESC LIMIT 1`,
  );
  const place = db.prepare('INSERT INTO searched VALUES (?, ?, ?, ?)');
  const renew = db.prepare('UPDATE searched SET generation = ? WHERE place = ?');
  const displace = db.prepare('DELETE FROM searched WHERE place = ?');
  const index = db.prepare('INSERT INTO search (rowid, words) VALUES (?, ?)');
  const strike = db.prepare('DELETE FROM search WHERE rowid = ?');

  const found = db.prepare(
    `SELECT p.id, s.place
     FROM (SELECT rowid AS place FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?) f
     JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST}`,
  );
  const isTangled = db.prepare('SELECT 1 FROM searched WHERE place >= ? AND place < ? AND tangled = 1 LIMIT 1');
  const foundInMinute = db.prepare(
    `SELECT p.id FROM pieces p WHERE p.id IN (
       SELECT s.piece FROM search JOIN searched s ON s.place = search.rowid
       WHERE search MATCH ? AND search.rowid >= ? AND search.rowid < ?)
     ${NEWEST_FIRST} LIMIT ?`,
  );

  const state = db.prepare('SELECT folding, filled FROM search_state');
  const begin = db.prepare('UPDATE search_state SET folding = ?, filled = 0');
  const end = db.prepare('UPDATE search_state SET filled = 1');
  const missing = db.prepare(
    `SELECT id, published_at FROM pieces p WHERE state = 'on_air' AND (published_at, id) > (?, ?)
       AND NOT EXISTS (SELECT 1 FROM searched WHERE piece = p.id)
     ORDER BY published_at, id LIMIT ?`,
  );

  const merge = db.prepare("INSERT INTO search (search, rank) VALUES ('merge', ?)");
  const changes = db.prepare('SELECT total_changes() AS n');
  const changed = (): number => (changes.get() as { n: number }).n;

  const minuteOf = (at: number): number => Math.floor(at / MINUTE) * ROOM;
  const startOfMinute = (at: number): number => Math.floor(at / ROOM) * ROOM;

  function placeFor(piece: string, at: number): { place: number; tangled: 0 | 1 } {
    const start = minuteOf(at);
    const last = lastOfMinute.get(start, start + ROOM) as
      | { place: number; tangled: 0 | 1; published_at: number; id: string }
      | undefined;
    if (last === undefined) return { place: start, tangled: 0 };
    const inOrder = at > last.published_at || (at === last.published_at && piece > last.id);
    // Whatever comes after a tangled one counts as tangled too: that one may leave, and take its mark along.
    return { place: last.place + 1, tangled: inOrder ? last.tangled : 1 };
  }

  /** Gives a piece its place, or takes it; what must be indexed there, or null. */
  function takePlace(piece: string): { place: number; paper: string; generation: number } | null {
    const now = shown.get(piece) as Shown | undefined;
    if (now === undefined) return null;
    if (now.place !== null && (now.state !== 'on_air' || now.indexed !== now.generation)) strike.run(now.place);
    if (now.state !== 'on_air') {
      if (now.place !== null) displace.run(now.place);
      return null;
    }
    if (now.indexed === now.generation) return null;
    if (now.place !== null) {
      renew.run(now.generation, now.place);
      return { place: now.place, paper: now.paper, generation: now.generation };
    }
    const free = placeFor(piece, now.published_at);
    place.run(free.place, piece, now.generation, free.tangled);
    return { place: free.place, paper: now.paper, generation: now.generation };
  }

  const changedPieces = new Set<string>();

  /**
   * Brings the index to how the changed pieces stand; the last work of a
   * transaction. FTS5 gathers words in memory until another statement may
   * have to be undone alone, or a place comes before the last one: all words
   * of a transaction are written together, in the order of their places.
   */
  function flush(): void {
    const due = [...changedPieces].map(takePlace).filter((one) => one !== null);
    changedPieces.clear();
    for (const { place, paper, generation } of due.sort((a, b) => a.place - b.place)) {
      index.run(place, indexText(paper, text.get(generation) as { headline: string; dek: string; prose: string }));
    }
  }

  /**
   * Indexes what is on air and not yet indexed: in a database from before
   * there was search, or after the folding was changed.
   */
  function fill(): void {
    const { folding, filled } = state.get() as { folding: number; filled: number };
    if (folding === FOLDING && filled === 1) return;
    transact(() => {
      // Another process may have begun meanwhile.
      if ((state.get() as { folding: number }).folding === FOLDING) return;
      db.exec("DELETE FROM searched; INSERT INTO search (search) VALUES ('delete-all')");
      begin.run(FOLDING);
    });
    let last = { published_at: Number.MIN_SAFE_INTEGER, id: '' };
    for (let more = true; more; ) {
      more = transact(() => {
        const batch = missing.all(last.published_at, last.id, BATCH) as { id: string; published_at: number }[];
        for (const { id } of batch) changedPieces.add(id);
        flush();
        last = batch.at(-1) ?? last;
        if (batch.length === 0) end.run();
        return batch.length > 0;
      });
    }
    settle();
  }

  /**
   * Brings the parts that many writes left the index in together, in steps
   * between which others may write: a search then takes half the time.
   */
  function settle(): void {
    // A number below nought begins with all parts; FTS5 counts two changes and more while there is work.
    for (let step = -STEP; ; step = STEP) {
      const before = changed();
      transact(() => merge.run(step));
      if (changed() - before < 2) return;
    }
  }

  /** Ids of one paper's pieces that hold all the terms, newest first as lists are. No terms find nothing. */
  function search(paper: string, terms: readonly string[], limit: number): string[] {
    if (terms.length === 0) return [];
    const match = matchExpression(paper, terms);
    // One more than asked for: it shows whether the last minute reaches beyond the page.
    const all = found.all(match, limit + 1) as { id: string; place: number }[];
    const page = all.slice(0, limit);
    const ids = (list: { id: string }[]): string[] => list.map(({ id }) => id);
    const [last, next] = [page.at(-1), all[limit]];
    if (last === undefined || next === undefined) return ids(page);
    const start = startOfMinute(last.place);
    if (startOfMinute(next.place) !== start || isTangled.get(start, start + ROOM) === undefined) {
      return ids(page);
    }
    const sure = page.filter(({ place }) => place >= start + ROOM);
    const rest = foundInMinute.all(match, start, start + ROOM, limit - sure.length) as { id: string }[];
    return ids([...sure, ...rest]);
  }

  return {
    /** Notes that a piece changed; `flush` indexes it, `forget` drops the note when the transaction is taken back. */
    note: (piece: string): unknown => changedPieces.add(piece),
    flush,
    forget: (): void => changedPieces.clear(),
    fill,
    settle,
    search,
  };
}

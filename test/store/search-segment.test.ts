import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'libsql';
import { freshDatabase } from '../../src/store/open.ts';
import type { IndexedWords, SearchSegment } from '../../src/store/search-segment.ts';
import { SegmentMaker } from '../../src/store/search-segment.ts';

const MINUTE = 2 ** 20;
const [AVERAGES, STRUCTURE] = [1, 10];

/** The rows that FTS5 itself writes for documents, in a table as ours: its only segment has the number 1. */
function writtenByFts5(docs: readonly IndexedWords[]): Record<string, unknown> {
  const own = freshDatabase();
  const { sql } = own.prepare("SELECT sql FROM sqlite_master WHERE name = 'search'").get() as { sql: string };
  own.close();
  const db = new Database(':memory:');
  try {
    db.exec(sql);
    db.exec("INSERT INTO search (search, rank) VALUES ('hashsize', 1073741824)");
    db.exec('BEGIN');
    const insert = db.prepare('INSERT INTO search (rowid, words) VALUES (?, ?)');
    for (const { place, words } of [...docs].sort((a, b) => a.place - b.place)) insert.run([place, words]);
    db.exec('COMMIT');
    const rows = (query: string) => db.prepare(query).raw().all() as unknown[][];
    const segment = 2 ** 37;
    return {
      pages: rows(
        `SELECT id - ${segment}, hex(block) FROM search_data WHERE id NOT IN (${AVERAGES}, ${STRUCTURE}) ORDER BY id`,
      ),
      terms: rows('SELECT hex(term), pgno FROM search_idx ORDER BY term'),
      sizes: rows('SELECT id, hex(sz) FROM search_docsize ORDER BY id'),
    };
  } finally {
    db.close();
  }
}

function rowsOf({ pages, terms, sizes, places, blob }: SearchSegment): Record<string, unknown> {
  const hex = (start: number, length: number) =>
    Buffer.from(blob.subarray(start - 1, start - 1 + length))
      .toString('hex')
      .toUpperCase();
  return {
    pages: pages.map(([at, start, length]) => [at, hex(start, length)]),
    terms: terms.map(([start, length, pgno]) => [hex(start, length), pgno]),
    sizes: sizes.map(([start, length], at) => [places[at], hex(start, length)]),
  };
}

/** A sequence of numbers below a bound that is the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const LETTERS = ['e', 't', 'a', 'o', 'n', 'ö', '水', '\u{E000}', '𝛼', '7', 'Z'];

/** Documents of so many words at most; a word is the more frequent the smaller its number. */
function documents(count: number, length: number, seed: number): IndexedWords[] {
  const next = numbers(seed);
  const word = (): string => {
    let number = next(next(4_000) + 1) + 1;
    let text = '';
    for (; number > 0; number = Math.floor(number / 3)) text += LETTERS[number % LETTERS.length];
    return text;
  };
  return Array.from({ length: count }, (_, at) => ({
    place: (at * 7 - 40) * MINUTE + at,
    words: Array.from({ length: 1 + next(length) }, word).join(next(9) === 0 ? ' , ' : ' '),
  }));
}

const maker = new SegmentMaker();

test('a segment is what FTS5 writes, byte for byte', () => {
  const long = 'tide '.repeat(9_000);
  const cases = {
    'one word': [{ place: 5, words: 'tide' }],
    'nothing to index': [
      { place: 5, words: 'tide' },
      { place: 6, words: '' },
    ],
    'words of all scripts, and places before 1970': documents(120, 300, 1),
    'many short documents': documents(3_000, 8, 2),
    'documents longer than pages': [...documents(20, 9_000, 3), { place: 2 ** 45, words: long }],
    'words longer than a page, and cut': ['x'.repeat(5_000), 'y'.repeat(40_000), 'xx'].map((words, place) => ({
      place,
      words: `${words} ${words}z`,
    })),
    'places in no order': documents(200, 200, 4).reverse(),
  };
  for (const [name, docs] of Object.entries(cases)) {
    assert.deepEqual(rowsOf(maker.make(docs)), writtenByFts5(docs), name);
  }
});

test('the list of a word that fills very many pages has an index of two levels, as that of FTS5', () => {
  // Each document ends on another page, and a row id takes six bytes in the index of the list.
  const words = 'a '.repeat(4_000);
  const docs = Array.from({ length: 900 }, (_, at) => ({ place: (2 ** 24 + at * 2_000) * MINUTE, words }));
  const made = maker.make(docs);
  assert.ok(
    made.pages.some(([at]) => at >= 2 ** 36 + 2 ** 31),
    'there is a second level',
  );
  assert.deepEqual(rowsOf(made), writtenByFts5(docs));
});

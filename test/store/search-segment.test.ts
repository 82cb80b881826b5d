import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Database from 'libsql';
import { freshDatabase } from '../../src/store/open.ts';
import { SegmentFault, segmentWriter } from '../../src/store/search-segment.ts';
import type { IndexedWords } from '../../src/store/segment-maker.ts';
import { makeSegment } from '../../src/store/segment-maker.ts';

type Index = Database.Database;
type Scope = { after(fn: () => void): void };

const rows = (db: Index, query: string, ...values: unknown[]): unknown[][] =>
  db.prepare(query).raw().all(values) as unknown[][];

function emptyIndex(t: Scope): Index {
  const db = freshDatabase();
  t.after(() => void db.close());
  db.exec('CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, search, instance)');
  return db;
}

/** Lets FTS5 index documents as one segment. */
function insert(db: Index, docs: readonly IndexedWords[]): void {
  db.exec("INSERT INTO search (search, rank) VALUES ('hashsize', 1073741824); BEGIN");
  const one = db.prepare('INSERT INTO search (rowid, words) VALUES (?, ?)');
  for (const { place, words } of [...docs].sort((a, b) => a.place - b.place)) one.run([place, words]);
  db.exec('COMMIT');
}

/** An index whose documents were added as segments of ours, and one that FTS5 made of the same documents. */
function twoIndexes(t: Scope, segments: readonly (readonly IndexedWords[])[]): [ours: Index, fts5s: Index] {
  const [ours, fts5s] = [emptyIndex(t), emptyIndex(t)];
  const writer = segmentWriter(ours);
  for (const docs of segments) {
    writer.add(makeSegment(docs));
    insert(fts5s, docs);
  }
  return [ours, fts5s];
}

const check = (db: Index) => db.exec("INSERT INTO search (search, rank) VALUES ('integrity-check', 0)");
const optimize = (db: Index) => db.exec("INSERT INTO search (search) VALUES ('optimize')");
const instances = (db: Index) => rows(db, 'SELECT hex(term), doc, "offset" FROM temp.terms');
const found = (db: Index, match: string) => rows(db, 'SELECT rowid FROM search WHERE search MATCH ?', match);
const foundLast = (db: Index, match: string) =>
  rows(db, 'SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC', match);

/** All rows of FTS5's tables but its structure, which counts the pages that FTS5 itself wrote. */
function tables(db: Index): unknown[][][] {
  return [
    rows(db, 'SELECT id, hex(block) FROM search_data WHERE id <> 10 ORDER BY id'),
    rows(db, 'SELECT segid, hex(term), pgno FROM search_idx ORDER BY segid, term'),
    rows(db, 'SELECT id, hex(sz), origin FROM search_docsize ORDER BY id'),
  ];
}

/** Queries for words of the documents, their prefixes of each length, and phrases. */
function queries(docs: readonly IndexedWords[]): string[] {
  const found = docs.flatMap(({ words }) => {
    const all = words.match(/[\p{L}\p{N}\u{E000}]+/gu) ?? [];
    const at = Math.floor(all.length / 3);
    const [word = 'tide', next = 'tide'] = all.slice(at);
    const short = [...word].slice(0, 40);
    const prefixes = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((length) => `"${short.slice(0, length).join('')}"*`);
    return [...prefixes, `"${word}"`, `"${word} ${next}"`, `"${word} ${[...next].slice(0, 2).join('')}"*`];
  });
  return [...new Set(found)].slice(0, 400);
}

function assertSame([ours, fts5s]: [Index, Index], docs: readonly IndexedWords[], name: string): void {
  check(ours);
  assert.deepEqual(instances(ours), instances(fts5s), name);
  for (const query of queries(docs)) {
    assert.deepEqual(found(ours, query), found(fts5s, query), `${name}: ${query}`);
    assert.deepEqual(foundLast(ours, query), foundLast(fts5s, query), `${name}: ${query}, the last first`);
  }
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
const BETWEEN = [' ', ' ', ' ', ' ', '  ', ' , ', '\0', '\n', '-'];

/** Documents of at most `length` words, of which some are frequent and most are not. */
function documents(count: number, length: number, seed: number): IndexedWords[] {
  const next = numbers(seed);
  const word = (): string => {
    let text = '';
    for (let left = next(next(40_000) + 1) + 1; left > 0; left = Math.floor(left / 3)) {
      text += LETTERS[left % LETTERS.length];
    }
    return text;
  };
  let place = 1 + next(2 ** 30) * 2 ** 20;
  return Array.from({ length: count }, () => {
    place += 1 + next(2) * next(2 ** 24) * 2 ** next(20);
    const words = Array.from({ length: 1 + next(length) }, () => word() + BETWEEN[next(BETWEEN.length)]);
    return { place, words: words.join('') };
  });
}

/** Texts that are hard to sort, hash, cut or page. */
const HOSTILE: Record<string, (size: number) => string> = {
  'one word': (size) => 'tide '.repeat(size / 5),
  'distinct words': (size) => Array.from({ length: size / 5 }, (_, at) => at.toString(36).padStart(4, 'x')).join(' '),
  'words that begin alike': (size) =>
    Array.from({ length: size / 1_004 }, (_, at) => 'w'.repeat(1_000) + at.toString(36)).join(' '),
  'words longer than FTS5 takes': (size) =>
    ['x', 'y', 'xz'].map((end) => 'x'.repeat(size / 3 + 32_768) + end).join(' '),
  'one character of each length': (size) => 'é 水 𝛼 z \u{E000} '.repeat(size / 12),
  'letters without ASCII': (size) => Array.from({ length: size / 6 }, (_, at) => `水é${at.toString(2)}`).join('𝛼'),
  'a cut within a character': (size) => `a${'水'.repeat(Math.max(size, 33_000) / 3)}z b${'水'.repeat(11_000)}`,
  'nothing but separators': (size) => `${' ,-\0'.repeat(size / 4)}end`,
};

test('a segment has the words that FTS5 finds, at the same places', (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const docs = documents(4 + seed ** 2, seed % 3 === 0 ? 2_000 : 60, seed);
    assertSame(twoIndexes(t, [docs]), docs, `seed ${seed}`);
  }
});

test('hostile texts are indexed as FTS5 indexes them', (t) => {
  const docs = Object.values(HOSTILE).map((text, at) => ({ place: 2 ** 53 - 100 + at, words: text(40_000) }));
  assertSame(twoIndexes(t, [docs]), docs, 'all');
  for (const [at, doc] of docs.entries()) {
    assertSame(twoIndexes(t, [[doc, { place: 7, words: 'tide xy' }]]), [doc], Object.keys(HOSTILE)[at] ?? '');
  }
});

test('lists of documents and of places go on over many pages', (t) => {
  const docs = Array.from({ length: 900 }, (_, at) => ({
    place: (2 ** 24 + at * 2_000) * 2 ** 20,
    words: 'a '.repeat(700),
  }));
  docs.push({ place: 5, words: `b ${'a b '.repeat(60_000)}` });
  assertSame(twoIndexes(t, [docs]), docs.slice(-1), 'long lists');
});

test('after the next merge nothing tells our segments from those of FTS5', (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const all = documents(300, seed === 1 ? 1_500 : 80, seed);
    all.push({
      place: 2 ** 53 - 1,
      words: Object.values(HOSTILE)
        .map((text) => text(20_000))
        .join(' '),
    });
    const segments = [0, 1, 2].map((rest) => all.filter((_, at) => at % 3 === rest));
    const pair = twoIndexes(t, segments);
    for (const db of pair) optimize(db);
    const [ours, fts5s] = pair.map(tables);
    assert.deepEqual(ours, fts5s, `seed ${seed}`);
  }
});

test('documents of a segment are deleted, indexed again, and merged step by step', (t) => {
  const docs = documents(400, 150, 5);
  const pair = twoIndexes(t, [docs.slice(0, 200), docs.slice(200)]);
  for (const db of pair) {
    for (const { place } of docs.filter((_, at) => at % 3 === 0))
      db.prepare('DELETE FROM search WHERE rowid = ?').run([place]);
    insert(
      db,
      docs.filter((_, at) => at % 6 === 0).map(({ place }) => ({ place, words: 'ebb again' })),
    );
    db.exec("INSERT INTO search (search, rank) VALUES ('merge', -3)");
  }
  assertSame(pair, docs, 'deleted');
  assert.equal(found(pair[0], '"ebb again"').length, 67);
  for (const db of pair) optimize(db);
  assertSame(pair, docs, 'merged');
});

test('row ids that are equal or below 1 are refused', () => {
  for (const places of [[5, 5], [0], [-3, 4]]) {
    assert.throws(() => makeSegment(places.map((place) => ({ place, words: 'tide' }))), /row ids/);
  }
});

test('an index of another definition, version or structure takes no segment', (t) => {
  const changes = [
    "DROP TABLE search; CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1)",
    "UPDATE search_config SET v = 5 WHERE k = 'version'",
    "UPDATE search_data SET block = x'0000000000' WHERE id = 10",
  ];
  const segment = makeSegment([{ place: 5, words: 'tide' }]);
  for (const change of changes) {
    const db = emptyIndex(t);
    db.exec(change);
    const before = tables(db);
    assert.throws(() => segmentWriter(db).add(segment), SegmentFault, change);
    assert.deepEqual(tables(db), before);
  }
  const empty = makeSegment([{ place: 5, words: ' , ' }]);
  assert.throws(() => segmentWriter(emptyIndex(t)).add(empty), SegmentFault);
});

test('a text of twice the size takes about twice the time', () => {
  const time = (words: string): number => {
    const { user, system } = process.cpuUsage();
    makeSegment([{ place: 5, words }]);
    const { user: userEnd, system: systemEnd } = process.cpuUsage();
    return userEnd - user + systemEnd - system;
  };
  for (const [name, text] of Object.entries(HOSTILE)) {
    const [short, long] = [text(1_200_000), text(2_400_000)];
    const pairs = [1, 2, 3, 4, 5].map((): [number, number] => [time(short), time(long)]);
    const [once, twice] = [0, 1].map((at) => Math.min(...pairs.map((pair) => pair[at] ?? 0))) as [number, number];
    assert.ok(twice <= 3 * once + 10_000, `${name}: ${once} and ${twice} µs`);
  }
});

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import Database from 'libsql';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { SEARCH_ROWS, searchTerms } from '../../src/desk/search.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import {
  appContextIn,
  type Clock,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  type Scope,
  tempFolder,
} from '../support/app-context.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const OTHER = 'harbor';

/** A context with two papers. One's slug is the beginning of the other's. */
function founded(t: Scope, clock: Clock = { now: NOON }, folder = tempFolder(t)): AppContext {
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const {
    store,
    clock: { now },
  } = app;
  store.database.transact(() => {
    const body = store.desk.record(PAPER, 'paper', '') as object;
    append(store.desk, { type: 'record', at: now(), paper: OTHER, kind: 'paper', name: '', body });
    for (const slug of PERSONAS) {
      const persona = store.desk.record(PAPER, 'persona', slug) as object;
      append(store.desk, { type: 'record', at: now(), paper: OTHER, kind: 'persona', name: slug, body: persona });
    }
  });
  return app;
}

/** A piece of these words and no others; the paper's own prose is in `filing`. */
function words(slug: string, headline: string, dek = '', prose = ''): Filing {
  return filing(slug, { headline, dek, prose: `${prose}[^1]\n\n[^2]` });
}

function file(app: AppContext, piece: Filing, paper = PAPER): void {
  fileStory(deskOf(app), paper, piece, { by: 'cli' });
}

function air(app: AppContext, piece: Filing, at?: number, paper = PAPER): void {
  file(app, piece, paper);
  airStory(deskOf(app), paper, piece.slug, { by: 'cli', ...(at === undefined ? {} : { at }) });
}

/** Slugs of what a search finds. */
function found(app: AppContext, q: string, paper = PAPER, limit = SEARCH_ROWS): string[] {
  const archive = app.store.desk.archive(paper);
  return archive.search(searchTerms(q), limit).map((id) => archive.row(id)?.slug ?? `no piece ${id}`);
}

test('a term matches words and their beginnings in headline, dek and prose, and all terms must match', (t) => {
  const app = founded(t);
  air(app, words('a', 'High tides', 'of the Harbour', 'A **leap** [second](https://rose.example).'));
  for (const q of ['tides', 'TIDE', 't', 'harb', 'leap', 'sec harbour high a', 'the of'])
    assert.deepEqual(found(app, q), ['a'], q);
  for (const q of ['ides', 'tidess', 'rose', 'tides low', 'cli', 'harbor', 'ledger', PAPER, 'tides-of', 'second-high'])
    assert.deepEqual(found(app, q), [], q);
});

test('rows are as the lists show them', (t) => {
  const app = founded(t);
  for (const n of [1, 2, 3]) air(app, words(`a${n}`, `Tide ${n}`), NOON - n * HOUR);
  const archive = app.store.desk.archive(PAPER);
  const rowsOf = (limit: number) => archive.search(['tide'], limit).map((id) => archive.row(id));
  assert.deepEqual(rowsOf(2), archive.latest({ limit: 2 }));
  assert.deepEqual(rowsOf(30), archive.latest({ limit: 30 }));
});

test('quotes, stars, hyphens, colons and the words of the query language are plain text', (t) => {
  const app = founded(t);
  air(app, words('a', 'Well-known: "near" and-or not', 'headline words', 'col:umn'));
  air(app, words('b', 'Known well', 'nothing', 'column'));
  const asked: [string, string[]][] = [
    ['well-known', ['a']],
    ['"well', ['b', 'a']],
    ['known" OR', ['a']],
    ['-well', ['b', 'a']],
    ['wel*', ['b', 'a']],
    ['w*l', []],
    ['*', []],
    ['^well', ['b', 'a']],
    ['NEAR(', ['a']],
    ['NOT well', ['b', 'a']],
    ['AND OR', ['a']],
    ['col:umn', ['a']],
    ['words:well', []],
    ['headline:words', ['a']],
    ['{words}:well', []],
    ['+well', ['b', 'a']],
    ["well'--", ['b', 'a']],
    ['"', []],
    ['"'.repeat(120), []],
    ['(((', []],
    ['well\u0000known', ['a']],
    ['\ud800well', ['b', 'a']],
    ['well " " "', ['b', 'a']],
  ];
  for (const [q, slugs] of asked) assert.deepEqual(found(app, q), slugs, JSON.stringify(q));
});

test('no query text at all makes a search fail', (t) => {
  const app = founded(t);
  air(app, words('a', 'One near and (two) "three" 東京', 'a b c', 'x'));
  const bit = fc.constantFrom(
    '"',
    '*',
    'NEAR(',
    ' AND ',
    ' NOT ',
    '^',
    ':',
    '-',
    '(',
    ')',
    '{',
    '}',
    '\0',
    '\ud800',
    'a',
    '東',
    '+',
    ',',
    '\u0301',
  );
  const q = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 130 }),
    fc.array(bit, { maxLength: 60 }).map((bits) => bits.join('')),
  );
  fc.assert(
    fc.property(q, (text) => {
      try {
        assert(found(app, text).length <= 1);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'invalid_request') throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});

test('only current text on air is found', (t) => {
  const clock = { now: NOON };
  const app = founded(t, clock);
  file(app, words('a', 'Tide'));
  assert.deepEqual(found(app, 'tide'), []);
  airStory(deskOf(app), PAPER, 'a', { by: 'cli', at: NOON + HOUR });
  assert.deepEqual(found(app, 'tide'), []);
  clock.now += HOUR;
  app.store.database.transact(() => airDue(app.store.desk, clock.now));
  assert.deepEqual(found(app, 'tide'), ['a']);

  clock.now += HOUR;
  file(app, words('a', 'Ebb'));
  assert.deepEqual([found(app, 'tide'), found(app, 'ebb')], [[], ['a']]);

  withdrawStory(deskOf(app), PAPER, 'a', { by: 'cli', reason: 'It was wrong.' });
  assert.deepEqual(found(app, 'ebb'), []);
  file(app, words('a', 'Flood'));
  assert.deepEqual(found(app, 'flood'), []);
  airStory(deskOf(app), PAPER, 'a', { by: 'cli' });
  assert.deepEqual([found(app, 'ebb'), found(app, 'flood')], [[], ['a']]);
});

test('a rolled-back write leaves the index unchanged', (t) => {
  const app = founded(t);
  air(app, words('a', 'Tide'));
  assert.throws(() =>
    app.store.database.transact(() => {
      file(app, words('a', 'Ebb'));
      air(app, words('b', 'Tide'));
      throw new Error('no');
    }),
  );
  assert.deepEqual([found(app, 'tide'), found(app, 'ebb')], [['a'], []]);
});

test('the newest come first, also among pieces that were backdated, or of one time, or from before 1970', (t) => {
  const app = founded(t);
  const times = [0, -HOUR, -HOUR, -1, -2, -59_999, -60_000, -100 * 365 * 24 * HOUR, -HOUR, -300 * 365 * 24 * HOUR, -1];
  for (const [n, time] of times.entries()) air(app, words(`a${n}`, 'Tide'), NOON + time);
  withdrawStory(deskOf(app), PAPER, 'a4', { by: 'cli', reason: 'It was wrong.' });
  airStory(deskOf(app), PAPER, 'a4', { by: 'cli' });
  const order = app.store.desk
    .archive(PAPER)
    .latest({ limit: 99, since: Number.MIN_SAFE_INTEGER })
    .map(({ slug }) => slug);
  assert.equal(order.length, times.length);
  for (let limit = 1; limit <= times.length + 1; limit++)
    assert.deepEqual(found(app, 'tide', PAPER, limit), order.slice(0, limit));
});

test('the order of one minute holds when the piece that upset it has left', (t) => {
  const app = founded(t);
  for (const [slug, second] of Object.entries({ a: 6, b: 3, c: 4, d: 5 }))
    air(app, words(slug, 'Tide'), NOON + (second - 9) * 1_000);
  withdrawStory(deskOf(app), PAPER, 'b', { by: 'cli', reason: 'It was wrong.' });
  assert.deepEqual(found(app, 'tide', PAPER, 1), ['a']);
  assert.deepEqual(found(app, 'tide'), ['a', 'd', 'c']);
});

test('two papers never mix, though one’s slug begins the other’s', (t) => {
  const app = founded(t);
  air(app, words('a', 'Tide'));
  air(app, words('b', 'Tide and harbor-ledger'), undefined, OTHER);
  assert.deepEqual(found(app, 'tide'), ['a']);
  assert.deepEqual(found(app, 'tide', OTHER), ['b']);
  assert.deepEqual(found(app, 'harbor-ledger'), []);
  assert.deepEqual(found(app, 'tide', 'nobody'), []);
});

test('each script is found as its readers write it', (t) => {
  const app = founded(t);
  const pieces: [string, string, found: string[], not: string[]][] = [
    ['de', 'Die Straße nach Köln', ['STRASSE', 'koln', 'Köl'], ['rasse']],
    ['el', 'Οι ΟΔΟΣ της Αθήνας', ['οδός', 'αθηνα'], ['θηνας']],
    ['vi', 'Nước Việt Nam', ['nuoc', 'viet nam', 'Việt'], ['iet']],
    ['ja', '東京タワーの高さを測る', ['東京', '京タワ', '高さ', 'タワー 東京'], ['京東', '東京の', 'ダワー']],
    ['zh', '上海港口发布潮汐表', ['港口', '潮汐', '潮汐 上海'], ['海上', '港汐']],
    ['th', 'น้ำขึ้นน้ำลงในอ่าวไทย', ['อ่าวไทย', 'น้ำ', 'ไทย'], ['นำ', 'อาว']],
    ['hi', 'हिन्दी समाचार पत्र', ['हिन्दी', 'समा', 'पत्र'], ['हन्दी', 'माचार']],
    ['ar', 'مَدِينَة البحر', ['مدينة', 'البح', 'مدينه'.slice(0, 4)], ['بحر']],
    ['he', 'שָׁלוֹם עולם', ['שלום', 'עול'], ['לום']],
    ['ko', '한국의 바다', ['한국', '바다'], ['국의']],
    ['ru', 'Ёлки и берёзы', ['ЕЛКИ', 'берез'], ['ерез']],
    ['tr', 'ISPARTA ve İzmir', ['ısparta', 'izmir', 'IZM'], ['zmir']],
  ];
  for (const [slug, headline] of pieces) air(app, words(slug, headline, '', 'x'));
  for (const [slug, , own, not] of pieces) {
    for (const q of own) assert.deepEqual(found(app, q), [slug], `${slug} ${q}`);
    for (const q of not) assert.deepEqual(found(app, q), [], `${slug} ${q}`);
  }
});

/** Takes the index out of a closed app's database, as it is in one from before there was search. */
function forget(folder: string, sql: string): void {
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec(sql);
  db.close();
}

test('a database from before search, or with another folding, is indexed when it is opened', {
  skip: ONLY_WIDE,
}, (t) => {
  const folder = tempFolder(t);
  const app = founded(t, { now: NOON }, folder);
  for (let n = 0; n < 450; n++) file(app, words(`a${n}`, `Tide ${n}`));
  app.store.database.transact(() => {
    for (let n = 0; n < 450; n++)
      airStory(deskOf(app), PAPER, `a${n}`, { by: 'cli', at: NOON - ((n * 7) % 450) * HOUR });
  });
  file(app, words('draft', 'Tide'));
  const before = [found(app, 'tide', PAPER, 999), found(app, '4 tide')];
  assert.equal(before[0]?.length, 450);
  app.close();
  for (const sql of [
    "DROP TABLE search; DROP TABLE searched; DROP TABLE search_state; DELETE FROM migrations WHERE name IN ('005-search.sql', '200-search-merges.sql', '205-search-prefixes.sql')",
    'UPDATE search_state SET folding = folding - 1',
    // A process ended while it filled the index.
    'UPDATE search_state SET filled = 0; DELETE FROM search WHERE rowid IN (SELECT place FROM searched LIMIT 300); DELETE FROM searched WHERE place IN (SELECT place FROM searched LIMIT 300)',
  ]) {
    forget(folder, sql);
    const again = appContextIn(t as TestContext, folder, { now: NOON });
    assert.deepEqual([found(again, 'tide', PAPER, 999), found(again, '4 tide')], before, sql);
    assert.deepEqual(again.store.database.integrity(), []);
    again.close();
  }
});

/** How many segments FTS5's index has. */
function segments(folder: string): number {
  const db = new Database(join(folder, 'var/broadsheet.db'), { readonly: true });
  try {
    return (db.prepare('SELECT count(DISTINCT segid) AS n FROM search_idx').get() as { n: number }).n;
  } finally {
    db.close();
  }
}

function assertSound({ store }: AppContext): void {
  assert.deepEqual(store.database.integrity(), []);
  assert.deepEqual(
    store.desk.indexFaults(() => {}),
    [],
  );
}

test('an index that many writes left in parts answers the same when it is settled', (t) => {
  const folder = tempFolder(t);
  const app = founded(t, { now: NOON }, folder);
  for (let n = 0; n < 40; n++) air(app, words(`a${n}`, `Tide ${n}`));
  withdrawStory(deskOf(app), PAPER, 'a7', { by: 'cli', reason: 'It was wrong.' });
  const answers = () => [found(app, 'tide', PAPER, 99), found(app, '1 tide'), found(app, '7')];
  const before = answers();
  const parts = segments(folder);
  app.store.desk.optimizeSearch();
  assert(segments(folder) < parts);
  assert.deepEqual(answers(), before);
  assertSound(app);
  app.store.desk.optimizeSearch();
});

test('an index that an earlier version wrote is made anew, searched and changed', (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var'));
  const fixture = (name: string) => readFileSync(new URL(`../fixtures/search-segments/${name}`, import.meta.url));
  writeFileSync(join(folder, 'var/broadsheet.db'), gunzipSync(fixture('segments.db.gz')));
  writeFileSync(join(folder, 'var/door.key'), fixture('door.key'), { mode: 0o600 });
  const app = appContextIn(t, folder, { now: NOON + HOUR });
  const listed = () =>
    app.store.desk
      .archive(PAPER)
      .latest({ limit: 99 })
      .map(({ slug }) => slug);
  assert.equal(listed().length, 40);
  assert.deepEqual(found(app, 'tide', PAPER, 99), listed());
  assert.deepEqual(found(app, 'tide c'), ['c-0', 'c-1', 'c-2', 'c-3']);
  assertSound(app);
  withdrawStory(deskOf(app), PAPER, 'c-3', { by: 'cli', reason: 'It was wrong.' });
  file(app, filing('d-1', { headline: 'Tide and ebb', correction: 'It was ebb.' }));
  air(app, words('new', 'Tide'));
  assertSound(app);
  assert.deepEqual(found(app, 'tide', PAPER, 99), listed());
  assert.deepEqual(found(app, 'ebb'), ['d-1']);
  assertSound(app);
});

const WORDS = 'tide tides ti été ETE ΟΔΟΣ οδου 東京 京都の กา กาแฟ Straße x-ray x ray 1,000 100 well—known known'.split(
  ' ',
);
const someWords = (max: number) =>
  fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: max }).map((list) => list.join(' '));
const AGO = [0, 0, 1, 30_000, 60_000, 3 * HOUR, 80 * 365 * 24 * HOUR];

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('air' as const),
      slug: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      paper: fc.constantFrom(PAPER, PAPER, OTHER),
      texts: fc.tuple(someWords(3), someWords(2), someWords(4)),
      ago: fc.constantFrom(...AGO),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('withdraw' as const),
      slug: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      paper: fc.constantFrom(PAPER, OTHER),
    }),
  },
);

const query = fc
  .array(
    fc.record({
      word: fc.constantFrom(...WORDS),
      length: fc.integer({ min: 1, max: 7 }),
      mark: fc.constantFrom('', '', '"', '*', '-'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((terms) => terms.map(({ word, length, mark }) => `${mark}${word.slice(0, length)}${mark}`).join(' '));

/** The words of a text, by a plain reading of the few letters that `WORDS` holds. */
function naiveWords(text: string): string[] {
  const folded = text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  return (
    folded
      .replaceAll('ß', 'ss')
      .replaceAll('ς', 'σ')
      .match(/[一-龯ぁ-んก-๎]|[a-zα-ω0-9]+/gu) ?? []
  );
}

/** Whether a term's words stand side by side in a text, the last one as a beginning. */
function naiveMatch(text: string, term: string): boolean {
  const [all, wanted] = [naiveWords(text), naiveWords(term)];
  const last = wanted.length - 1;
  return all.some((_, start) =>
    wanted.every((word, n) => (n === last ? all[start + n]?.startsWith(word) : all[start + n] === word)),
  );
}

function naiveSearch(app: AppContext, paper: string, q: string, limit: number): string[] {
  const archive = app.store.desk.archive(paper);
  const terms = q.split(' ').filter((term) => naiveWords(term).length > 0);
  if (terms.length === 0) return [];
  return archive
    .latest({ limit: 99, since: Number.MIN_SAFE_INTEGER })
    .filter(({ id, headline, dek }) => {
      const prose = archive.storyById(id)?.prose.replace(/\[\^\d\]/g, '') ?? '';
      return terms.every((term) => [headline, dek, prose].some((text) => naiveMatch(text, term)));
    })
    .slice(0, limit)
    .map(({ slug }) => slug);
}

test('after any filing, airing, revision and withdrawal, a search agrees with a scan of the archive', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 24 }),
      fc.array(query, { minLength: 5, maxLength: 12 }),
      async (steps, queries) => {
        const ends: (() => void)[] = [];
        const scope = { after: (work: () => void) => void ends.unshift(work) };
        try {
          const clock = { now: NOON };
          const folder = tempFolder(scope);
          const app = founded(scope, clock, folder);
          for (const one of steps) {
            clock.now += 1;
            if (one.do === 'air') air(app, words(one.slug, ...one.texts), NOON - one.ago, one.paper);
            else if (app.store.desk.archive(one.paper).storyBySlug(one.slug)?.state === 'on_air')
              withdrawStory(deskOf(app), one.paper, one.slug, { by: 'cli', reason: 'It was wrong.' });
          }
          const file = join(folder, 'ledger.jsonl');
          await exportLedger(intakeOf(app), file);
          const replayed = appContextIn(scope, join(folder, 'other'), clock);
          await importLedger(intakeOf(replayed), file);
          const answers = (of: AppContext) =>
            queries.flatMap((q) =>
              [PAPER, OTHER].flatMap((paper) => [1, 2, 3, 30].map((limit) => found(of, q, paper, limit))),
            );
          const scanned = queries.flatMap((q) =>
            [PAPER, OTHER].flatMap((paper) => [1, 2, 3, 30].map((limit) => naiveSearch(app, paper, q, limit))),
          );
          assert.deepEqual(answers(app), scanned);
          assert.deepEqual(answers(replayed), scanned);
          app.close();
          forget(folder, 'UPDATE search_state SET folding = 0');
          assert.deepEqual(answers(appContextIn(scope, folder, clock)), scanned);
        } finally {
          for (const end of ends) end();
        }
      },
    ),
    { numRuns: Number(process.env.SEARCH_RUNS ?? 15) },
  );
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { matchExpression, SEARCH_ROWS } from '../../src/desk/search.ts';
import { deskOf } from '../../src/server/context.ts';
import { SearchPool } from '../../src/server/search-pool.ts';
import { Busy } from '../../src/shared/fault.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { INTERRUPTED, openSearchReader, type Question } from '../../src/store/desk/search-reader.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { publish } from '../support/newsroom.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** How many rows, and how many words each has: a phrase takes some 0.3 s or more to be found in none of them. */
const [ROWS, WORDS] = [600, 3_000];
/** 120 characters, and in no piece: none has two `a` in a row. */
const COSTLY = `a${'-b-a'.repeat(29)}-a`;

/** An archive whose index holds long texts of two words, and one piece. Returns the database. */
function archive(t: TestContext): string {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  publish(app, 'tide');
  const file = databaseFile(app.settings);
  const paper = matchExpression(PAPER, []).replaceAll('"', '');
  const db = new Database(file);
  db.exec('BEGIN');
  const index = db.prepare('INSERT INTO search (rowid, words) VALUES (?, ?)');
  const text = `${paper} ${'a b '.repeat(WORDS / 2)}`;
  for (let rowid = 1; rowid <= ROWS; rowid++) index.run([rowid, text]);
  db.exec('COMMIT');
  db.close();
  return file;
}

const about = (term: string): Question => ({ paper: PAPER, match: matchExpression(PAPER, [term]) });

test('on another thread the same is found, in the same order', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  // The second is older than the first of the same minute, so that row ids do not tell the order.
  for (const [slug, second] of [
    ['a', 30],
    ['b', 10],
    ['c', 20],
    ['d', 70],
  ] as const) {
    fileStory(deskOf(app), PAPER, filing(slug), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli', at: Date.parse('2026-11-20T11:00:00Z') + second * 1_000 });
  }
  const archive = app.store.desk.archive(PAPER);
  for (const limit of [1, 2, 3, 9]) {
    const reader = openSearchReader(databaseFile(app.settings), limit);
    t.after(reader.close);
    const { edition, ids } = await reader.found(about('means'));
    assert.deepEqual(
      ids.map((id) => archive.row(id)?.slug),
      ['d', 'a', 'c', 'b'].slice(0, limit),
    );
    assert.deepEqual(ids, archive.search(['means'], limit));
    assert.equal(edition, app.store.desk.paper(PAPER)?.edition);
  }
});

test('a paper that does not exist has no edition, and a question that nothing holds no ids', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  publish(app, 'tide');
  const reader = openSearchReader(databaseFile(app.settings), SEARCH_ROWS);
  t.after(reader.close);
  const nowhere = { paper: 'no-such-paper', match: matchExpression('no-such-paper', ['means']) };
  assert.deepEqual(await reader.found(nowhere), { edition: null, ids: [] });
  const edition = app.store.desk.paper(PAPER)?.edition;
  assert.deepEqual(await reader.found(about('nothing-holds-this')), { edition, ids: [] });
});

test('row ids fall with time, so that the index is read upwards to the newest', (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  const times = ['1969-12-31T23:59:30Z', '1970-01-01T00:00:30Z', '1899-01-01T00:00:00Z', '2026-11-20T11:59:00Z'];
  for (const [n, at] of times.entries()) {
    fileStory(deskOf(app), PAPER, filing(`a${n}`), { by: 'cli' });
    airStory(deskOf(app), PAPER, `a${n}`, { by: 'cli', at: Date.parse(at) });
  }
  const db = new Database(databaseFile(app.settings));
  const slugs = db
    .prepare('SELECT p.slug FROM searched s JOIN pieces p ON p.id = s.piece ORDER BY s.place')
    .pluck()
    .all();
  db.close();
  assert.deepEqual(slugs, ['a3', 'a1', 'a0', 'a2']);
});

test('a search in a year or a section finds what is there, to the minute of midnight UTC', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  const [section = '', other = ''] = app.store.desk.paper(PAPER)?.sections ?? [];
  for (const [slug, at, category] of [
    ['a', '2024-12-31T23:59:59.999Z', section],
    ['b', '2025-01-01T00:00:00.000Z', section],
    // The second of the same minute is older: its row id does not tell the order.
    ['c', '2025-12-31T23:59:50.000Z', other],
    ['d', '2025-12-31T23:59:10.000Z', section],
    ['e', '2026-01-01T00:00:00.000Z', section],
    ['f', '0050-06-01T00:00:00.000Z', other],
  ] as const) {
    fileStory(deskOf(app), PAPER, filing(slug, { category }), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli', at: Date.parse(at) });
  }
  const archive = app.store.desk.archive(PAPER);
  for (const [filter, slugs] of [
    [{ year: 2025 }, ['c', 'd', 'b']],
    [{ year: 2024 }, ['a']],
    [{ year: 50 }, ['f']],
    [{ year: 1950 }, []],
    [{ year: 9999 }, []],
    [{ year: 0 }, []],
    [{ section }, ['e', 'd', 'b', 'a']],
    [{ section, year: 2025 }, ['d', 'b']],
    [{ section: 'none' }, []],
  ] as const) {
    for (const limit of [1, 2, 9]) {
      const reader = openSearchReader(databaseFile(app.settings), limit);
      t.after(reader.close);
      const { ids } = await reader.found({ ...about('means'), filter });
      const found = ids.map((id) => archive.row(id)?.slug);
      assert.deepEqual(found, slugs.slice(0, limit), JSON.stringify(filter));
      assert.deepEqual(ids, archive.search(['means'], limit, filter));
    }
  }
});

test('a costly question can be interrupted, and one caller who repeats it keeps nobody else waiting', {
  skip: ONLY_WIDE,
}, async (t) => {
  const file = archive(t);
  const reader = openSearchReader(file, SEARCH_ROWS);
  const running = reader.found(about(COSTLY)).catch((error: unknown) => error);
  const timer = setInterval(() => reader.interrupt(), 5);
  const thrown = (await running) as { code?: string };
  clearInterval(timer);
  assert.equal(thrown.code, INTERRUPTED, JSON.stringify(thrown));
  const found = await reader.found(about('means'));
  assert.equal(found.ids.length, 1, 'the connection goes on');
  reader.close();

  const pool = new SearchPool(() => openSearchReader(file, SEARCH_ROWS), { deadline: 600_000, connections: 1 });
  const since = performance.now();
  let answered = 0;
  const costly = Array.from({ length: 100 }, () =>
    pool.ask(about(COSTLY), 'one', since).then(
      () => answered++,
      (fault: unknown) => assert.ok(fault instanceof Busy, String(fault)),
    ),
  );
  for (let n = 0; n < 10; n++) {
    const { ids } = await pool.ask(about('means'), 'another', since);
    assert.deepEqual(ids, found.ids);
  }
  assert.ok(answered < 50, `${answered} costly questions came first`);
  pool.close();
  await Promise.all(costly);
});

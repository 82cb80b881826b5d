import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { correctFact, type FactOrder } from '../../src/desk/recording-facts.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { verifyNoble } from '../../src/proof/ed25519.ts';
import { factFaults } from '../../src/proof/fact-document.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const BY = { by: 'cli' };
const factOf = (key: string, n: number) => ({
  ...{ n, claim_key: key, statement: `The ${key} is so.` },
  ...{ source: n === 1 ? 'Port Authority' : 'NIST', instrument: `https://port.example/${key}` },
});

function desk(t: TestContext, body = {}) {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app, body);
  const at = (path: string) => join(folder, 'papers', PAPER, path);
  return {
    ...{ app, folder, clock },
    has: (path: string) => existsSync(at(path)),
    read: (path: string) => readFileSync(at(path), 'utf8'),
    press: () => pressPapers(app, { cards: false }),
    correct: (key: string, order: Partial<FactOrder> = {}) =>
      correctFact(deskOf(app), PAPER, key, { version: 1, note: 'It was a misprint.', ...order, ...BY }),
  };
}

function put(app: AppContext, slug: string, keys: string[], at: number, more = {}): void {
  const cited_facts = keys.map((key, index) => factOf(key, index + 1));
  const prose = keys.map((_key, index) => `So it is.[^${index + 1}]`).join(' ');
  fileStory(deskOf(app), PAPER, filing(slug, { cited_facts, prose, ...more }), BY);
  airStory(deskOf(app), PAPER, slug, { ...BY, at });
}

test('the record has a page for each fact, lists and sources, and a publish leaves those of a full press', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, clock, has, read, press, correct } = desk(t);
  fileStory(deskOf(app), PAPER, filing('without'), BY);
  airStory(deskOf(app), PAPER, 'without', BY);
  await press();
  assert.ok(!has('facts/index.html') && !has('sources/index.html'));
  assert.doesNotMatch(read('index.html'), /\/facts\//);
  const compare = async (what: string) => {
    clock.now += 60_000;
    await press();
    if (ONLY_WIDE === false || /withdrawn|last/.test(what))
      assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
    assert.deepEqual(app.store.desk.ledgerFaults(), [], what);
  };

  put(app, 'first', ['pier', '1'], START - 9 * DAY);
  await compare('the first fact goes on air');
  assert.match(read('stories/without/index.html'), /<a href="[^"]*\/facts\/">Facts<\/a>/);
  app.store.database.transact(() => {
    for (let n = 0; n < 60; n++) put(app, `piece-${n}`, ['pier', `quay-${n}`], START - (70 - n) * 3_600_000);
  });
  await compare('more than a page of facts');
  assert.match(read('facts/index.html'), /href="[^"]*\/facts\/all\/1\/"/);
  assert.match(read('facts/all/2/index.html'), /quay-59/);
  assert.match(read('facts/pier/index.html'), /What piece 59|piece-59/i);
  assert.match(read('facts/1/index.html'), /The 1 is so/, 'a claim key may be a number');
  assert.match(read('sources/index.html'), /Port Authority<\/bdi> <span class="count">1 fact, cited 61 times/);
  assert.match(read('sitemap.xml'), /sitemaps\/facts-1\.xml/);
  assert.match(read('sitemaps/facts-1.xml'), /facts\/quay-59\//);
  assert.match(read('sitemaps/pages.xml'), /\/sources\//);
  const before = JSON.parse(read('facts/pier.json'));
  assert.deepEqual(factFaults(before, verifyNoble), []);
  assert.equal(before.cited_by.length, 61);
  const footnote = read('stories/piece-3/index.html');
  assert.match(footnote, /href="[^"]*\/facts\/pier\/">Fact record<\/a>/);
  assert.doesNotMatch(footnote, /Corrected since/);

  correct('quay-3', { statement: 'The quay is longer.' });
  await compare('a correction');
  assert.match(
    read('stories/piece-3/index.html'),
    /The quay-3 is so\.[\s\S]*Corrected since: <a href="[^"]*\/facts\/quay-3\/">/,
  );
  assert.match(
    read('stories/piece-3.md'),
    /The quay-3 is so\. — NIST, \S+ \(corrected since: http\S+\/facts\/quay-3\/\)/,
  );
  assert.match(read('facts/quay-3/index.html'), /The quay is longer\.[\s\S]*It was a misprint\.[\s\S]*cites version 1/);
  assert.match(
    read('corrections/index.html'),
    /Corrected[\s\S]*\/facts\/quay-3\/">The quay is longer\.[\s\S]*It was a misprint/,
  );
  assert.deepEqual(factFaults(JSON.parse(read('facts/quay-3.json')), verifyNoble), []);
  correct('quay-40', { status: 'retracted', note: 'Nobody measured it.' });
  await compare('a retraction');
  assert.match(read('rss.xml'), /quay-40<\/a>\. Retracted since: <a href="http[^"]*\/facts\/quay-40\/">why<\/a>/);
  assert.match(read('stories/piece-40/index.html'), /Retracted since: <a href="[^"]*\/facts\/quay-40\/">why/);
  assert.match(read('corrections/index.html'), /Retracted[\s\S]*Nobody measured it\./);
  assert.match(
    read('corrections/rss.xml'),
    /<title>Retracted: The quay-40 is so\.<\/title>\s*<link>http\S+\/facts\/quay-40\/<\/link>[\s\S]*Nobody measured it\.[\s\S]*<title>Corrected: The quay is longer\./,
  );
  correct('quay-3', { version: 2, status: 'standing', source: 'Harbour Office', note: 'Its publisher moved.' });
  await compare('a new publisher of a corrected fact');
  assert.match(read('corrections/index.html'), /It was a misprint\./, 'the correction stays listed');

  withdrawStory(deskOf(app), PAPER, 'piece-1', { ...BY, reason: 'It was wrong.' });
  await compare('withdrawn, the only piece of a fact');
  assert.ok(!has('facts/quay-1/index.html') && !has('facts/quay-1.json'));
  assert.doesNotMatch(read('facts/all/1/index.html'), /quay-1\//);
  airStory(deskOf(app), PAPER, 'piece-1', BY);
  await compare('on air again');
  assert.ok(has('facts/quay-1/index.html'));
  put(app, 'piece-2', ['pier', 'mole'], START);
  await compare('a revision that cites another fact');
  assert.ok(!has('facts/quay-2/index.html') && has('facts/mole/index.html'));
  for (let n = 0; n < 60; n++) withdrawStory(deskOf(app), PAPER, `piece-${n}`, { ...BY, reason: 'It was wrong.' });
  withdrawStory(deskOf(app), PAPER, 'first', { ...BY, reason: 'It was wrong.' });
  await compare('the last piece is withdrawn');
  assert.ok(!has('facts/index.html') && !has('sources/index.html') && !has('sitemaps/facts-1.xml'));
  // Cards are left to a later press here.
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !/stale files wait/.test(fault)),
    [],
  );
});

test('a correction presses what shows the fact, the pieces that cite it, and nothing else', async (t) => {
  const { app, folder, press, correct } = desk(t);
  app.store.database.transact(() => {
    for (let n = 0; n < 120; n++) {
      const quay = n === 8 || n === 9 ? 7 : n;
      put(app, `piece-${n}`, [`quay-${quay}`, `mole-${n}`], START - (130 - n) * 3_600_000);
    }
  });
  await press();
  const tree = () => treeOf(join(folder, 'papers', PAPER));
  const before = tree();
  correct('quay-7', { statement: 'The quay is longer.' });
  await press();
  const changed = [...tree()]
    .filter(([path, bytes]) => String(before.get(path)) !== String(bytes))
    .map(([path]) => path);
  assert.deepEqual(changed.sort(), [
    'corrections/index.html',
    'corrections/rss.xml',
    'facts/all/1/index.html',
    'facts/quay-7.json',
    'facts/quay-7/index.html',
    'front.json',
    'index.html',
    ...[7, 8, 9].flatMap((n) => [`stories/piece-${n}.md`, `stories/piece-${n}/index.html`]),
  ]);
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { tagSlug, tagsFrom } from '../../src/desk/door/tag.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('names that differ in case, accents or punctuation are one tag, other names are others', () => {
  assert.deepEqual(tagsFrom(['Open  Data ', 'open-data', 'Öpen data', 'Tides']), ['Open Data', 'Tides']);
  assert.equal(new Set(['C', 'C++', 'C#', '潮', '汐', '潮 C', 'Ж'].map(tagSlug)).size, 7);
  for (const name of ['潮', 'C++', '…', 'a'.repeat(40)]) assert.match(tagSlug(name), /^[a-z0-9]+(-[a-z0-9]+)*$/);
});

test('a tag has pages, a feed and a place in the list, and a publish leaves those of a full press', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const file = (slug: string, tags: string[]) => fileStory(deskOf(app), PAPER, filing(slug, { tags }), { by: 'cli' });
  const air = (slug: string, at: number) => airStory(deskOf(app), PAPER, slug, { by: 'cli', at });
  app.store.database.transact(() => {
    for (let n = 0; n < 32; n++) {
      file(`piece-${n}`, n % 2 ? ['Tides', 'Harbour'] : ['Tides']);
      air(`piece-${n}`, START - (40 - n) * DAY);
    }
  });
  await pressPapers(app, { cards: false });
  const at = (path: string) => join(folder, 'papers', PAPER, path);
  const read = (path: string) => readFileSync(at(path), 'utf8');
  const LAST = 'an archive arrives';
  const compare = async (what: string) => {
    clock.now += 60_000;
    await pressPapers(app, { cards: false });
    // On a push after the last change: a file that an earlier press left wrong is wrong then too.
    if (ONLY_WIDE === false || what === LAST)
      assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
    assert.deepEqual(app.store.desk.ledgerFaults(), [], what);
  };

  assert.match(read('tags/tides/index.html'), /href="[^"]*\/tags\/tides\/1\/"/);
  assert.ok(existsSync(at('tags/tides/2/index.html')));
  assert.ok(!existsSync(at('tags/harbour/1/index.html')), 'what fits on one page has no other');
  assert.match(read('tags/harbour/rss.xml'), /<category>Tides<\/category>\s*<category>Harbour<\/category>/);
  assert.match(read('tags/index.html'), /Harbour<\/bdi> <span class="count">16</);
  // Two tags share their newest piece; the second one shows another.
  const leads = [...read('tags/index.html').matchAll(/class="whole">(piece-\d+)</g)].map(([, slug]) => slug);
  assert.deepEqual(leads, ['piece-31', 'piece-29']);
  const page = read('stories/piece-1/index.html');
  assert.match(page, /<a rel="tag" href="[^"]*\/tags\/harbour\/"[^>]*>Harbour</);
  assert.match(page, /<meta property="article:tag" content="Harbour">/);
  assert.match(page, /"keywords":\["Tides","Harbour"\]/);
  assert.deepEqual(JSON.parse(read('feed.json')).items[0].tags, ['City', 'Tides', 'Harbour']);
  assert.match(read('sitemaps/pages.xml'), /\/tags\/harbour\//);
  assert.match(read('masthead/ines-calloway/rss.xml'), /<title>The Harbor Ledger: ines calloway, AI persona<\/title>/);

  // An old piece loses its tag, so that all that came after it move up; another spells it in its own way.
  file('piece-1', ['Harbour']);
  file('piece-31', ['TIDES', 'Quays']);
  await compare('revised');
  assert.match(read('tags/tides/index.html'), /<h1>TIDES<\/h1>/);
  assert.ok(existsSync(at('tags/quays/index.html')));
  // From the middle of the archive, and the newest.
  withdrawStory(deskOf(app), PAPER, 'piece-10', { by: 'cli', reason: 'It was wrong.' });
  withdrawStory(deskOf(app), PAPER, 'piece-31', { by: 'cli', reason: 'It was wrong.' });
  await compare('withdrawn');
  assert.ok(!existsSync(at('tags/quays/index.html')), 'a tag without pieces is gone');
  assert.ok(!existsSync(at('tags/tides/1/index.html')), 'what fits on one page again has no other');
  file('late', ['Tides']);
  air('late', START - 60 * DAY);
  file('later', ['Tides']);
  air('later', START - 30 * DAY);
  await compare(LAST);
  assert.ok(existsSync(at('tags/tides/2/index.html')));
  assert.deepEqual(app.store.desk.archive(PAPER).tags({ limit: 9 }), [
    { slug: 'tides', name: 'Tides', count: 31 },
    { slug: 'harbour', name: 'Harbour', count: 15 },
  ]);
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => /tag/.test(fault)),
    [],
  );
});

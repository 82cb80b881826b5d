import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import type { PersonaCounts } from '../../src/desk/archive.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, PERSONAS, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const [INES = '', TOMAS = ''] = PERSONAS;
/** More than the page lists. */
const PIECES = 33;

test('a persona’s page has its record, and is printed again when a piece of its own changes, and only then', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const file = (slug: string, more: object = {}) => fileStory(deskOf(app), PAPER, filing(slug, more), { by: 'cli' });
  const air = (slug: string, at: number) => airStory(deskOf(app), PAPER, slug, { by: 'cli', at });
  app.store.database.transact(() => {
    for (let n = 0; n < PIECES; n++) {
      file(`piece-${n}`, { persona: INES });
      air(`piece-${n}`, START - (40 - n) * DAY);
    }
    file('of-tomas', { persona: TOMAS });
    air('of-tomas', START - DAY);
  });
  await pressPapers(app, { cards: false });
  const page = (slug: string) => readFileSync(join(folder, 'papers', PAPER, 'masthead', slug, 'index.html'), 'utf8');
  const counts = (slug: string): PersonaCounts => app.store.desk.archive(PAPER).personaCounts(slug);
  /** The outputs that are stale, by the dependencies that they read. */
  const isStale = (slug: string): boolean => {
    const { manifest } = app.store.desk;
    const stale = [...manifest.staleDependencies(PAPER)];
    return stale.some((dependency) => manifest.outputsReading(PAPER, dependency).includes(`persona/${slug}`));
  };
  const press = async () => {
    clock.now += 60_000;
    await pressPapers(app, { cards: false });
  };

  assert.deepEqual(counts(INES), { pieces: PIECES, corrections: 0, withdrawn: 0 });
  assert.match(page(INES), new RegExp(`<dt>Pieces</dt><dd>${PIECES}</dd>`));
  assert.doesNotMatch(page(INES), /Withdrawn/);
  assert.match(page(INES), /<bdi>[^<]+<\/bdi> <span class="count">cited \d+ times</);

  // The oldest piece, which no list of the page has.
  file('piece-0', { persona: INES, correction: 'It said otherwise.' });
  assert.ok(isStale(INES));
  assert.ok(!isStale(TOMAS));
  await press();
  assert.match(page(INES), /Corrections<\/a><\/dt><dd>1</);

  withdrawStory(deskOf(app), PAPER, 'piece-0', { by: 'cli', reason: 'It was wrong.' });
  assert.ok(!isStale(TOMAS));
  await press();
  assert.deepEqual(counts(INES), { pieces: PIECES - 1, corrections: 0, withdrawn: 1 });
  assert.match(page(INES), /<dt>Withdrawn<\/dt><dd>1</);

  // While it is withdrawn, and once it is back, under another name.
  file('piece-0', { persona: TOMAS });
  assert.ok(isStale(INES) && isStale(TOMAS));
  await press();
  assert.deepEqual([counts(INES).withdrawn, counts(TOMAS).withdrawn], [0, 1]);
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
  air('piece-0', clock.now);
  assert.ok(!isStale(INES));
  await press();
  assert.deepEqual(counts(TOMAS), { pieces: 2, corrections: 1, withdrawn: 0 });
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
  const { faults } = await auditApp(app);
  // Cards are left to the next press.
  assert.deepEqual(
    faults.filter((fault) => !/stale files wait/.test(fault)),
    [],
  );
});

test('back issues show the fronts of four weeks, and tags the newest piece with a picture', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  app.store.database.transact(() => {
    for (let n = 0; n < 30; n++) {
      const tags = Array.from({ length: 14 }, (_, tag) => `Tag ${tag}`).slice(n % 5);
      fileStory(deskOf(app), PAPER, filing(`piece-${n}`, { tags: tags.slice(0, 9) }), { by: 'cli' });
      airStory(deskOf(app), PAPER, `piece-${n}`, { by: 'cli', at: START - n * DAY });
    }
  });
  await pressPapers(app, { cards: false });
  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path, 'index.html'), 'utf8');
  const miniatures = (html: string) => html.match(/<a class="miniature" href="[^"]+"/g) ?? [];
  assert.equal(miniatures(read('days')).length, 28);
  assert.match(read('days'), /<time class="name" datetime="2026-11-20">/);
  assert.equal(miniatures(read('days/2026')).length, 0, 'a year has its calendar alone');
  assert.equal(miniatures(read('tags')).length, 12);
  // A revision of what leads a day changes its miniature.
  fileStory(deskOf(app), PAPER, filing('piece-3', { headline: 'Another headline' }), { by: 'cli' });
  clock.now += 60_000;
  await pressPapers(app, { cards: false });
  assert.match(read('days'), /Another headline/);
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
});

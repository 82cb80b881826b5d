import assert from 'node:assert/strict';
import { test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('cards that a press left are still due after another press without cards', { skip: ONLY_WIDE }, async (t) => {
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  for (const slug of ['ebb', 'flow']) {
    fileStory(deskOf(app), PAPER, filing(slug), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli' });
    await pressPapers(app, { cards: false });
  }
  const cards = [...app.store.desk.manifest.staleDependencies(PAPER)].filter((dependency) =>
    dependency.startsWith('card:'),
  );
  assert.equal(cards.length, 2);
  await pressPapers(app);
  assert.deepEqual((await auditApp(app)).faults, []);
});

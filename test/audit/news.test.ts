import assert from 'node:assert/strict';
import { test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';

const DAY = 86_400_000;
const BY = { by: 'cli' };

test('once a clock that ran ahead is right again, a full press and an audit agree', async (t) => {
  const clock = { now: Date.UTC(2026, 10, 20, 12) };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  const air = (slug: string) => {
    fileStory(deskOf(app), PAPER, filing(slug), BY);
    airStory(deskOf(app), PAPER, slug, BY);
  };
  air('tide');
  clock.now += DAY;
  air('ebb');
  clock.now += 365 * DAY;
  air('flood');
  clock.now -= 365 * DAY;
  await pressPapers(app, { full: true });
  assert.deepEqual((await auditApp(app)).faults, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { dependencies } from '../../src/desk/dependencies.ts';
import { startAiring } from '../../src/desk/jobs/airing-job.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { DAY, MINUTE } from '../../src/proof/time.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { publish } from '../support/newsroom.ts';
import { until } from '../support/program.ts';

test('the news sitemap is pressed again while a piece may leave it, and no longer', async (t) => {
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  publish(app, 'a-piece');
  const {
    desk: { manifest },
  } = app.store;
  const presses = new PressQueue(app);
  // Nothing is pressed here: only the marks count.
  t.mock.method(presses, 'press', async () => null);
  const stop = startAiring({ app, presses, backlog: new Set(), logger: pino({ level: 'silent' }) });
  t.after(stop);
  const marked = () => (manifest.isStale(PAPER, dependencies.news) ? true : null);
  const pass = (ms: number) => {
    manifest.clearStale(PAPER, Number.MAX_SAFE_INTEGER);
    clock.now += ms;
  };
  pass(11 * MINUTE);
  await until(marked);
  pass(11 * MINUTE);
  await until(marked);
  // The machine slept: the piece was in the sitemap the last time.
  pass(5 * DAY);
  await until(marked);
  pass(11 * MINUTE);
  // A few rounds of the clock.
  await pause(700);
  assert.equal(marked(), null);
});

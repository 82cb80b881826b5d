import { setTimeout as pause } from 'node:timers/promises';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { deskOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { createPaper, filing, PAPER } from '../support/app-context.ts';

/**
 * Files stories until it is killed, and prints each receipt's slug and the time at which it was on disk; with `paper` it
 * makes the paper, and ends.
 */

const run = process.argv[2];
const app = openAppContext(readSettings(process.env));
if (run === 'paper') {
  createPaper(app);
  process.exit();
}
app.signer.open();
const key = openLogKey(app, 'desk');
for (let n = 0; ; n++) {
  const slug = `story-${run}-${n}`;
  fileStory(deskOf(app), PAPER, filing(slug), { by: 'test' });
  airStory(deskOf(app), PAPER, slug, { by: 'test' });
  process.stdout.write(`${slug} ${Date.now()}\n`);
  if (n % 8 === 0) while (signHead(app, 'desk', key) === 'more');
  await pause(Math.random() * 40);
}

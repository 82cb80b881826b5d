import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startFiling } from '../../src/desk/jobs/filing-job.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { openServerLog } from '../../src/server/server-log.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

test('papers wait until they are filed, also when a reload ends the filing before its time', async (t) => {
  const folder = tempFolder(t);
  const papers = ['first-tide', 'second-tide'];
  for (const paper of papers) {
    mkdirSync(join(folder, 'content', paper), { recursive: true });
    writeFileSync(join(folder, 'content', paper, 'paper.yaml'), 'not a paper');
  }
  const app = appContextIn(t, folder, { now: Date.now() });
  const backlog = new Set(papers);
  const parts = {
    app,
    presses: new PressQueue(app),
    backlog,
    logger: openServerLog('silent'),
    onProblem() {},
    onFiled() {},
  };
  await startFiling(parts)();
  assert.equal(backlog.size === 0, false);
  const stop = startFiling(parts);
  while (backlog.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await stop();
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../../src/proof/time.ts';
import { appContextIn, envIn, type Scope, tempFolder } from '../../support/app-context.ts';
import { observeDays } from '../../support/archive.ts';
import { PROGRAM } from '../../support/program.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

/** What an archiver may have in memory at most, in MB. */
const PROMISED = 400;
const NAMES = 1_500;
const DAYS = 8;

/** The most memory that `archive run` had, in MB, and what it archived. */
async function archived(t: Scope, names: number): Promise<{ rss: number; through: number }> {
  const folder = tempFolder(t);
  const more = { ARCHIVE_URL: join(folder, 'archive') };
  // All in a month that is closed.
  const clock = { now: Math.floor(Date.now() / DAY) * DAY - 50 * DAY };
  const app = appContextIn(t, folder, clock, more);
  const list = Array.from({ length: names }, (_, n) => `name${n}.example`);
  observeDays(app, clock, DAYS, list);
  const args = ['--max-old-space-size=256', PROGRAM, 'archive', 'run'];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...envIn(folder, more) }, stdio: 'ignore' });
  let rss = 0;
  const watch = setInterval(() => {
    try {
      const [, most = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      rss = Math.max(rss, Number(most) / 1_000);
    } catch {
      // It has ended.
    }
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  assert.equal(code, 0);
  return { rss, through: app.store.records.archive.through() };
}

test('the memory of an archiver does not grow with the month', { skip: ONLY_WIDE }, async (t) => {
  const one = await archived(t, NAMES);
  const two = await archived(t, 2 * NAMES);
  t.diagnostic(`${Math.round(one.rss)} MB, ${Math.round(two.rss)} MB with twice the rows`);
  assert.deepEqual([one.through, two.through], [NAMES * DAYS, 2 * NAMES * DAYS]);
  assert.ok(two.rss < PROMISED, `${two.rss} MB`);
  assert.ok(two.rss < 1.25 * one.rss, `${one.rss} MB, then ${two.rss} MB`);
});

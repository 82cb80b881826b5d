import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScreen } from '../../src/cmd/serve/start-screen.ts';
import { terminalLine } from '../../src/server/server-log.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';

test('a terminal shows where to look, and names no more than eight papers', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.UTC(2026, 10, 26) });
  createPaper(app, { nameplate: 'The Harbor Ledger' });
  const services = [
    { name: 'desk', url: 'http://127.0.0.1:4321' },
    { name: 'records', url: 'http://127.0.0.1:4322' },
    { name: 'metrics', url: 'http://127.0.0.1:9100' },
  ] as const;
  const screen = startScreen(app, services);
  assert.match(screen, /^Broadsheet \d+\.\d+\.\d+ is ready\n/);
  assert.ok(screen.includes(`/${PAPER}/\n`));
  assert.match(screen, /Mail \(not sent\) +http\S+\/newsstand\/outbox\/\n/);
  assert.match(screen, /Metrics +http:\/\/127\.0\.0\.1:9100\/metrics\n/);
  assert.ok(!screen.includes('\u001b'));
  assert.ok(screen.trimEnd().split('\n').length <= 24);
});

test('the log of a terminal is a line for people: no JSON, no control characters', () => {
  const at = new Date(2026, 10, 26, 9, 5, 7).getTime();
  const line = (more: object) => terminalLine(JSON.stringify({ level: 30, time: at, pid: 1, hostname: 'h', ...more }));
  assert.equal(line({ msg: 'filed content', filed: 3, why: 'x' }), '09:05:07 filed content filed=3 why=x\n');
  assert.equal(line({ level: 40, msg: 'slow\u001b[2J' }), '09:05:07 warn: slow\\u001b[2J\n');
  assert.match(
    line({ level: 50, msg: 'failed', err: { stack: 'Error: a\n  at b' } }),
    /^09:05:07 error: failed\nError: a\n {2}at b\n$/,
  );
});

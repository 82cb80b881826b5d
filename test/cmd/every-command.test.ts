import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { PROGRAM, runAlone } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const EMAIL = 'ada@example.org';
const OF_PAPER = ['--paper', PAPER];

/** Commands that no other test starts as a process, with a part of what each prints to standard output. */
const CALLS: [args: string[], printed: RegExp, code?: number][] = [
  [['account', 'show', EMAIL], /^ada@example\.org/],
  [['activity', ...OF_PAPER], /^no activity$/m],
  [['air', 'none', ...OF_PAPER], /^$/, 1],
  [['archive', 'sql', 'SELECT 1'], /^$/, 1],
  [['archive', 'status'], /^there is no archive; ARCHIVE_URL is not set$/m],
  [['audit'], /^0 generations, \d+ leaves and \d+ files audited, 0 faults$/m],
  [['clock', 'correct', '--no-press', '--now', new Date().toISOString()], /^nothing to correct/],
  [['credits', 'add', EMAIL, '5'], /5/],
  [['dumps', 'status'], /^there are no dumps; DUMPS_URL is not set$/m],
  [['erase', 'pond.example', '--reason', 'They asked.'], /^pond\.example has opted out; 0 hostnames erased$/m],
  [['fact', 'list', ...OF_PAPER], /^no facts$/m],
  [['file'], /^$/, 1],
  [['ledger', 'export', 'FOLDER/ledger.jsonl'], /ledger\.jsonl/],
  [['log', 'status'], /./],
  [['monitor', 'http://127.0.0.1:9/', '--policy', 'none', '--state', 'FOLDER/state'], /^$/, 2],
  [['opt-out', 'quay.example', '--reason', 'They asked.'], /^quay\.example/],
  [['reader', 'show', EMAIL, ...OF_PAPER], /^$/, 1],
  [['review', 'list', ...OF_PAPER], /^nothing waits$/m],
  [['seat', 'list', ...OF_PAPER], /^no seats$/m],
  [['session', 'list', ...OF_PAPER], /./],
  [['upgrade'], /^$/, 1],
  [['watch', 'pier.example'], /pier\.example/],
  [['webhook', 'list', ...OF_PAPER], /^no webhooks$/m],
  [['withdraw', 'none', ...OF_PAPER, '--reason', 'None.'], /^$/, 1],
  [['owner', 'list'], /^no account proves a name$/m],
  [['plan', 'set', 'newsroom', '--price', '5000000'], /^newsroom: /],
];
/** Others that tests of their own start as processes, most often to kill them. */
const STARTED_ELSEWHERE =
  'backup demo dev doctor import key new paper press publish restore scan serve standby verify'.split(' ');

test('every command runs as a process of its own', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.now() });
  createPaper(app);
  app.store.records.accounts.ofEmail(EMAIL, { id: 'ada', plan: 'daily', made_at: app.clock.now() });
  await pressPapers(app);
  const table = readFileSync(join(PROGRAM, '../../src/cmd/commands.ts'), 'utf8');
  const commands = [...table.matchAll(/^ {2}'?([\w-]+)'?: \(\) => import\(/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(CALLS.map(([[name]]) => name)), ...STARTED_ELSEWHERE].sort(), commands.sort());
  // On a push every tenth, one of which fails: what the others load, tests in one process load too.
  for (const [args, printed, expected = 0] of CALLS.filter((_, n) => ONLY_WIDE === false || n % 10 === 2)) {
    const given = args.map((arg) => arg.replace('FOLDER', folder));
    const { code, stdout, stderr } = await runAlone(t, folder, given);
    const what = `${args.join(' ')}: ${code}\n${stdout}${stderr}`;
    assert.equal(code, expected, what);
    assert.match(stdout, printed, what);
    assert.doesNotMatch(stderr, /^\s+at /m, what);
  }
});

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REQUESTS_MAX } from '../../src/records/accounts/sign-in.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { NOON, RACES } from './races.ts';

// Fifty callers of two processes at the edge of every balance, throttle and lease: what there is goes to so many of
// them, and to each of those once.

const CHILD = fileURLToPath(new URL('race-child.ts', import.meta.url));
const CALLERS = 25;
const HOUR = 3_600_000;

const app = appContextIn({ after }, tempFolder({ after }), { now: NOON });
createPaper(app);
const { store } = app;
const children = ['a', 'b'].map((name) => fork(CHILD, [databaseFile(app.settings), name, String(CALLERS)]));
after(() => {
  for (const child of children) child.kill('SIGKILL');
});
await Promise.all(children.map((child) => once(child, 'message')));

const run = new Set<string>();

/** What each of fifty callers came to. */
async function raced(name: string): Promise<unknown[]> {
  run.add(name);
  RACES[name]?.ready(store);
  const reports = children.map((child) => once(child, 'message') as Promise<[unknown[]]>);
  for (const child of children) child.send(name);
  const outcomes = (await Promise.all(reports)).flatMap(([report]) => report);
  assert.equal(outcomes.length, 2 * CALLERS);
  return outcomes;
}

/** Each outcome with how many came to it. */
function counted(outcomes: unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[String(outcome)] = (counts[String(outcome)] ?? 0) + 1;
  return counts;
}

const EDGES: Record<string, Record<string, number>> = {
  'the included requests of a day, and a balance': { included: 10, credits: 7, exhausted: 33 },
  'the included requests of a month': { included: 30, exhausted: 20 },
  'the minute of a key': { included: 20, too_fast: 30 },
  'the slot of a keyless caller': { open: 1, throttled: 49 },
  'the ceiling of all keyless callers': { open: 20, closed: 30 },
  'one purchase of credits': { entered: 1, known: 49 },
  'a balance that is taken away, while it is drawn': { 1: 20, 0: 30 },
  'a payment that nobody has': { true: 1, false: 49 },
  'a payment whose holder has died': { true: 1, false: 49 },
  'the repeats of an answer': { true: 20, false: 30 },
  'one link to sign in': { 'guest@example.org': 1, not_found: 49 },
  'a lease of one process': { acquired: 1, null: 49 },
};

for (const [name, counts] of Object.entries(EDGES)) {
  test(name, async () => assert.deepEqual(counted(await raced(name)), counts));
}

for (const name of ['mails that are due', 'hostnames that are due']) {
  test(name, async () => {
    const had = (await raced(name)).flat();
    assert.deepEqual([had.length, new Set(had).size], [20, 20], 'each of twenty went to one of fifty');
  });
}

test('one payment at the till', async () => {
  const sold = (await raced('one payment at the till')) as { text: string; did: string[] }[];
  const did = sold.flatMap((one) => one.did);
  assert.deepEqual(did.toSorted(), ['run', 'settle', 'verify'], 'it was checked, answered and settled once');
  assert.equal(new Set(sold.map(({ text }) => text)).size, 1);
  assert.match(sold[0]?.text ?? '', /^answer to /);
});

test('links to sign in for one address', async () => {
  await raced('links to sign in for one address');
  assert.equal(store.records.signIns.unanswered('stranger@example.org', Number.MAX_SAFE_INTEGER).count, REQUESTS_MAX);
  const mails = store.records.accountMails.lease(NOON + HOUR, NOON + 2 * HOUR, 100);
  assert.equal(mails.filter(({ email }) => email === 'stranger@example.org').length, REQUESTS_MAX);
});

test('orders for one reader', async () => {
  await raced('orders for one reader');
  assert.equal(store.desk.readers.mails.lease(NOON + HOUR, NOON + 2 * HOUR, 100).length, 1);
});

test('the books hold after all of it', () => {
  assert.deepEqual(store.records.credits.faults(), []);
  assert.deepEqual([store.records.credits.balance('balance'), store.records.credits.balance('taken')], [1, 0]);
  assert.deepEqual(store.database.integrity(), []);
  const missing = Object.keys(RACES).filter((name) => !run.has(name));
  assert.deepEqual(missing, []);
});

import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('meter-child.ts', import.meta.url));
const AT = Date.UTC(2026, 10, 21, 23, 59, 59, 999);
const COST = 50_000;
const DAILY = 150;

const KEYS = ['a', 'b', 'c'];

/** A database with one account that has three keys and some credits. */
function accountIn(t: TestContext, credits: number) {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: AT });
  for (const id of KEYS) {
    const key = { id, account: 'ada', level: 'account' as const, name: id, made_at: AT, used_at: null };
    store.records.serviceKeys.insert(
      { ...key, made_by: 'cli', expires_at: null, revoked_by: null, revoked_at: null },
      id,
    );
  }
  store.records.credits.append('ada', { at: AT, amount: credits, note: null });
  return { file, store };
}

/** Starts a server of its own for each key, and waits until they are ready. */
async function childrenOn(t: TestContext, file: string, requests: number): Promise<ChildProcess[]> {
  const children = KEYS.map((key) => fork(CHILD, [file, key, String(requests)]));
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  return children;
}

test('processes on one account never spend more than it has, and lose nothing', { skip: ONLY_WIDE }, async (t) => {
  const { file, store } = accountIn(t, 50 * COST + 1);
  const children = await childrenOn(t, file, 120);
  const ended = children.map((child) => once(child, 'exit'));
  const reports = children.map((child) => once(child, 'message'));
  for (const child of children) child.send('go');
  const came = (await Promise.all(reports)).map(
    ([report]) => report as Record<'included' | 'drawn' | 'refused' | 'failed', number>,
  );
  await Promise.all(ended);

  const sum = (column: keyof (typeof came)[number]) => came.reduce((total, one) => total + one[column], 0);
  const columns = { included: sum('included'), drawn: sum('drawn'), refused: sum('refused'), failed: sum('failed') };
  const [day, ...others] = store.records.meter.days('ada', '2026-11-01');
  assert.deepEqual(day, { day: '2026-11-21', ...columns }, 'what the processes were told is what was counted');
  assert.deepEqual(others, []);
  assert.equal(columns.included + columns.drawn + columns.refused + columns.failed, 360);
  assert(columns.refused > 0, 'there was not enough for all');
  assert(columns.included <= DAILY && columns.drawn <= 50);
  assert.equal(store.records.credits.balance('ada'), 50 * COST + 1 - columns.drawn * COST);

  // What was given back at the end is there to be taken, and not one unit more.
  const rest = DAILY - columns.included + 50 - columns.drawn;
  for (let n = 0; n <= rest; n++) {
    const take = store.records.meter.reserve({ account: 'ada', key: 'a', at: AT }, { daily: DAILY, perMinute: 1_000 });
    assert.equal(take?.outcome, n < rest ? 'reserved' : 'exhausted');
  }
  assert.equal(store.records.credits.balance('ada'), 1);
  const units = store.records.meter.keys('ada', AT).reduce((total, { today }) => total + today, 0);
  assert.equal(units, DAILY + 50);
});

// On a push test/api/records/lanes/charge-crash.test.ts kills a server that charges.
test('processes killed midway leave a consistent meter', { skip: ONLY_WIDE }, async (t) => {
  const { file, store } = accountIn(t, 1_000_000 * COST);
  const children = await childrenOn(t, file, 1_000_000);
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  // Well past what is included, so that each draws credits when it dies.
  while ((store.records.meter.usage('ada', AT, DAILY)?.today.drawn ?? 0) < 50) await setTimeout(5);
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  const standing = store.records.meter.usage('ada', AT, DAILY);
  const units = store.records.meter.keys('ada', AT).reduce((total, { today }) => total + today, 0);
  assert.equal(units, (standing?.today.included ?? 0) + (standing?.today.drawn ?? 0));
  assert.equal(standing?.balance, (1_000_000 - (standing?.today.drawn ?? 0)) * COST);
  store.records.credits.entries('ada', AT + 86_400_000);
  assert.deepEqual(store.records.credits.faults(), []);
  assert.deepEqual(store.database.integrity(), []);
});

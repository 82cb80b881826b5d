import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dayAllowance } from '../../src/records/meter/account-usage.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('quota-child.ts', import.meta.url));
const NOON = Date.UTC(2026, 10, 21, 12);
const DAY = 86_400_000;
const LIMITS = { daily: 30, perMinute: 1_000 };

/** A database with accounts, each with a key of its name. */
function storeIn(t: TestContext, accounts: Record<string, string>) {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  const add = (id: string, email: string) => {
    store.records.accounts.ofEmail(email, { id, plan: 'daily', made_at: NOON });
    const key = { id, account: id, level: 'account' as const, name: id, made_at: NOON, used_at: null };
    store.records.serviceKeys.insert(
      { ...key, made_by: 'cli', expires_at: null, revoked_by: null, revoked_at: null },
      id,
    );
  };
  for (const [id, email] of Object.entries(accounts)) add(id, email);
  const take = (account: string, at = NOON) => store.records.meter.reserve({ account, key: account, at }, LIMITS);
  const left = (account: string, at = NOON) => {
    const standing = store.records.meter.usage(account, at, LIMITS.daily);
    return standing && dayAllowance(standing);
  };
  return { file, store, add, take, left };
}

test('addresses of one mailbox share an allowance, even when an account is deleted; others have their own', (t) => {
  const { store, add, take, left } = storeIn(t, {
    ada: 'a.da@gmail.com',
    alias: 'ada+two@googlemail.com',
    ben: 'ben@gmail.com',
  });
  for (let n = 0; n < 10; n++) assert.equal(take('ada')?.outcome, 'reserved');
  assert.deepEqual(left('ada'), { allowance: 30, remaining: 20 });
  assert.deepEqual(left('alias'), { allowance: 20, remaining: 20 });
  assert.deepEqual(left('ben'), { allowance: 30, remaining: 30 });
  for (let n = 0; n < 20; n++) assert.equal(take('alias')?.outcome, 'reserved');
  const refused = take('ada');
  assert.equal(refused?.outcome, 'exhausted');
  assert.equal(take('alias')?.outcome, 'exhausted');
  assert.equal(take('ben')?.outcome, 'reserved');

  // One that failed is there again, for either.
  store.records.meter.refund(
    { account: 'alias', key: 'alias', day: '2026-11-21', from: 'included', isShared: true, isExport: false },
    NOON,
    LIMITS.daily,
  );
  assert.equal(take('ada')?.outcome, 'reserved');
  assert.equal(take('alias')?.outcome, 'exhausted');

  // Deleted and made again it begins with nothing new.
  store.records.meter.forget('alias', NOON);
  store.records.accounts.remove('alias');
  add('again', 'ada+three@gmail.com');
  assert.equal(take('again')?.outcome, 'exhausted');
  // Credits are each account's own, and the operator's plan is not shared.
  store.records.credits.append('again', { at: NOON, amount: 50_000, note: null });
  assert.equal(take('again')?.outcome, 'reserved');
  store.records.accounts.setPlan('again', 'monthly');
  assert.equal(take('again')?.outcome, 'reserved');
  assert.deepEqual(left('ada', NOON + DAY), { allowance: 30, remaining: 30 });
  store.records.quotas.forget('2026-11-22');
  assert.deepEqual(left('ada'), { allowance: 30, remaining: 19 });
});

test('accounts of before get their mailbox when the database is opened', async (t) => {
  const { file, store } = storeIn(t, { ada: 'ada@gmail.com', alias: 'ad.a@gmail.com' });
  const { default: Database } = await import('libsql');
  const db = new Database(file);
  db.exec('UPDATE accounts SET mailbox = NULL');
  db.close();
  const again = openStore({ file });
  t.after(() => again.database.close());
  for (let n = 0; n < 30; n++) again.records.meter.reserve({ account: 'ada', key: 'ada', at: NOON }, LIMITS);
  assert.equal(store.records.meter.reserve({ account: 'alias', key: 'alias', at: NOON }, LIMITS)?.outcome, 'exhausted');
});

test('a network makes so many accounts a day, also when the clock is set back', (t) => {
  const { store } = storeIn(t, {});
  const make = (at: number, network = '192.0.2.0/24') => store.records.quotas.signUp(network, at, 3);
  for (let n = 0; n < 3; n++) assert.equal(make(NOON), null);
  assert.equal(make(NOON), NOON + DAY / 2);
  assert.equal(make(NOON - DAY), NOON + DAY / 2, 'yesterday is over');
  assert.equal(make(NOON, '198.51.100.0/24'), null);
  assert.equal(make(NOON + DAY / 2), null);
});

test('streams count while they are open or renewed, and expire by themselves', (t) => {
  const { store } = storeIn(t, {});
  const limits = { most: 2, lasts: 60_000 };
  const open = (id: string, at: number, holder = 'account:ada') =>
    store.records.quotas.openStream({ id, holder }, () => at, limits);
  assert.deepEqual(
    [open('a', NOON), open('b', NOON), open('c', NOON), open('d', NOON, 'x')],
    [true, true, false, true],
  );
  store.records.quotas.endStream('a');
  assert.equal(open('c', NOON), true);
  store.records.quotas.renewStreams([['c', 'account:ada']], NOON + 90_000);
  assert.equal(
    store.records.quotas.openStreams('account:ada', NOON + 60_000, limits.lasts),
    1,
    'the process of b died',
  );
  assert.deepEqual([open('e', NOON + 60_000), open('f', NOON + 60_000)], [true, false]);
  assert.equal(open('g', NOON - DAY), true, 'streams of a clock that was set back hold nobody up');
});

test('two processes at the limit, 50 concurrent attempts: never one too many', { skip: ONLY_WIDE }, async (t) => {
  const { file, store } = storeIn(t, { ada: 'ada@example.org', alias: 'ada+two@example.org' });
  const children = ['ada', 'alias'].map((name) => fork(CHILD, [file, name]));
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const reports = children.map((child) => once(child, 'message'));
  for (const child of children) child.send('go');
  const came = (await Promise.all(reports)).map(
    ([report]) => report as Record<'signUps' | 'streams' | 'units', number>,
  );
  const sum = (what: 'signUps' | 'streams' | 'units') => came.reduce((total, one) => total + one[what], 0);
  assert.deepEqual([sum('signUps'), sum('streams'), sum('units')], [20, 10, 30]);
  assert.equal(store.records.quotas.openStreams('account:ada', NOON, 60_000), 10);
});

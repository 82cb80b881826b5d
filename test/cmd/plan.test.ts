import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payment } from '../../src/records/meter/payment.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { PAID_ENV } from '../support/sample-payment.ts';

test('plans are set, changed, listed and removed; those who hold one keep it', async (t) => {
  const folder = tempFolder(t);
  const plan = (args: string[], env = {}) => run(t, folder, ['plan', ...args], env);
  assert.equal((await plan(['list'])).stdout, 'no plan is on sale\n');
  const set = ['set', 'newsroom', '--daily', '50000', '--watch', '500', '--price', '25000000'];
  const made = await plan(set, PAID_ENV);
  assert.equal(
    made.stdout,
    'newsroom: 25 USDC for 30 days; 50,000 requests a day, 100 a minute for each key, 500 hostnames in groups, 10 open streams, 1,000 exports a day\n',
    made.stderr,
  );
  // What is not named stays.
  const changed = JSON.parse((await plan(['set', 'newsroom', '--days', '7', '--json'])).stdout);
  assert.deepEqual(changed, {
    ...{ name: 'newsroom', daily: 50_000, per_minute: 100, watch: 500, streams: 10, exports: 1_000 },
    ...{ price: 25_000_000, days: 7 },
  });

  const app = appContextIn(t, folder, { now: Date.now() });
  const { accounts, plans } = app.store.records;
  accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: 0 });
  const { name, ...terms } = changed;
  const order = { id: 'order', account: 'ada', payment: 'p', plan: name, ...terms, cost: '25 USDC' };
  plans.place({ ...order, network: 'eip155:1', asset: null, payer: '0x', ordered_at: Date.now() }, {} as Payment);
  const { ends_at } = plans.grant('order', Date.now(), null);
  assert.match(
    (await plan(['list'])).stdout,
    /^newsroom: 25,000,000 atomic units for 7 days; .*; held by 1 account\n$/,
  );
  const removed = await plan(['remove', 'newsroom']);
  assert.equal(removed.stdout, 'newsroom is no longer on sale; 1 account holds it to its end\n');
  const shown = await run(t, folder, ['account', 'show', 'ada@example.org']);
  assert.match(shown.stdout, new RegExp(`bought the plan newsroom, until ${new Date(ends_at).toISOString()}\n$`));
});

test('a plan that is none is refused in one line, and changes nothing', async (t) => {
  const folder = tempFolder(t);
  const price = ['--price', '1'];
  for (const [args, said] of [
    [['set', 'free', ...price], /^broadsheet: name: "free" is not the name of a plan; use 1 to 40 of a–z, 0–9 and -/],
    [['set', 'New Room', ...price], /^broadsheet: name: "New Room" is not/],
    [['set', 'a\u202eb', ...price], /^broadsheet: name: "a\\u202eb" is not/],
    [['set', 'x'.repeat(5_000), ...price], /^broadsheet: name: "x{80}" is not/],
    [['set', 'one'], /^broadsheet: --price: a new plan needs one; there is no plan one yet\n$/],
    [['set', 'one', '--price', '0'], /^broadsheet: --price: "0" must be a whole number from 1 to 1000000000\n$/],
    [['set', 'one', '--price', '1.5'], /^broadsheet: --price: "1\.5" must be a whole number/],
    [['set', 'one', '--price', '1e9'], /^broadsheet: --price: "1e9" must be a whole number/],
    [
      ['set', 'one', ...price, '--daily', '99999999999999999999'],
      /^broadsheet: --daily: "9{20}" must be a whole number from 1 to 10000000\n$/,
    ],
    [['set', 'one', ...price, '--days', '367'], /^broadsheet: --days: "367" must be a whole number from 1 to 366\n$/],
    [['set', 'one', ...price, '--watch', '-1'], /^broadsheet: --watch: "-1" must be a whole number from 0/],
    [['remove', 'one'], /^broadsheet: (?:there is no plan one; list shows those on sale|there is no database)/],
  ] as [string[], RegExp][]) {
    const { code, stdout, stderr } = await run(t, folder, ['plan', ...args]);
    assert.match(stderr, said, args.join(' '));
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
  }
  assert.equal((await run(t, folder, ['plan', 'list'])).stdout, 'no plan is on sale\n');
});

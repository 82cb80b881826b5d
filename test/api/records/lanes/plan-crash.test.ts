import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServiceKey } from '../../../../src/records/accounts/service-key.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../../../support/app-context.ts';
import { startChain, WITHOUT_CHAIN } from '../../../support/chain.ts';
import { startFacilitator } from '../../../support/facilitator.ts';
import { PAYEE, paidEnv, payment } from '../../../support/paid-fixture.ts';
import { serve, until } from '../../../support/program.ts';
import { send } from '../../../support/send.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const TERMS = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 3_000, days: 30 };

test('kill -9 between settlement and grant: every payment has its plan, once, whether its payer comes back or not', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async (t) => {
  const folder = tempFolder(t);
  const endings: (() => void)[] = [];
  const app = appContextIn({ after: (work) => void endings.push(work) }, folder, { now: Date.now() });
  app.store.records.plans.set({ name: 'small', ...TERMS });
  const keys = ['ada', 'bob', 'eve'].map((account) => {
    app.store.records.accounts.ofEmail(`${account}@example.org`, { id: account, plan: 'daily', made_at: Date.now() });
    const maker = { keys: app.store.records.serviceKeys, now: Date.now, newId, random: randomBytes, by: 'test' };
    return { 'X-Service-Key': makeServiceKey(maker, { account, level: 'account', name: 'N' }).key };
  });
  for (const end of endings) end();

  const chain = await startChain(t);
  const facilitator = await startFacilitator(t, chain);
  const env = { ...paidEnv(facilitator.url, chain.url), SERVICES: 'records' };
  const killed = await serve(t, folder, env);
  const buyers = await Promise.all(
    keys.map(async (key, n) => {
      const payer = await chain.payer();
      // The money of the first two moves, and nobody hears of it; that of the third does not.
      facilitator.treat(payer, { settle: n === 2 ? 'hangs' : 'stalls' });
      const signed = await payment(payer, TERMS.price);
      const buy = (url: string) =>
        send(url, { method: 'POST', path: '/v1/plans/small', headers: { ...key, ...signed.headers } });
      return { key, payer, signed, buy };
    }),
  );
  const lost = buyers.map(({ buy }) => buy(killed.records).catch(() => null));
  await until(() => (buyers.every(({ payer }) => facilitator.asked(payer, 'settle') === 1) ? true : null));
  for (const { signed } of buyers.slice(0, 2)) {
    await until(async () => ((await chain.used(signed.authorization)) ? true : null));
  }
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  assert.deepEqual(await Promise.all(lost), [null, null, null]);

  const again = await serve(t, folder, env);
  const [ada, bob, eve] = buyers as [(typeof buyers)[0], (typeof buyers)[0], (typeof buyers)[0]];
  const held = async ({ key }: typeof ada) =>
    JSON.parse((await send(again.records, { path: '/v1/account/plans', headers: key })).text);
  for (;;) {
    const { status, headers, text } = await ada.buy(again.records);
    if (status === 503) await sleep(Number(headers['retry-after']) * 1_000);
    else {
      assert.equal(status, 200, text);
      break;
    }
  }
  await until(async () => ((await held(bob)).plan === null ? null : true));
  assert.equal((await held(eve)).plan, null, 'the service moves no money by itself');
  for (const buyer of [ada, bob]) {
    assert.equal((await held(buyer)).total, 1);
    assert.equal((await buyer.buy(again.records)).status, 200);
    assert.equal((await held(buyer)).total, 1);
  }
  assert.equal(await chain.balance(PAYEE), 2 * TERMS.price);
  await again.stop();
});

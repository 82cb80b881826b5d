import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { appContextIn, tempFolder } from '../../../support/app-context.ts';
import { startChain, WITHOUT_CHAIN } from '../../../support/chain.ts';
import { type Act, startFacilitator } from '../../../support/facilitator.ts';
import { ask } from '../../../support/http.ts';
import { HOST, LOOKUP, LOOKUP_UNITS, PAYEE, paidEnv, payment } from '../../../support/paid-fixture.ts';
import { probe } from '../../../support/probes.ts';
import { serve, until } from '../../../support/program.ts';
import { recordProbes } from '../../../support/records-fixture.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

/** Where each payment is when the process is killed. */
const STAGES: Record<string, Partial<Record<'verify' | 'settle', Act>>> = {
  'while it is checked': { verify: 'hangs' },
  'before the money moves': { settle: 'hangs' },
  'after it moved': { settle: 'stalls' },
  'after the answer went out': {},
};

test('kill -9 in the middle of paid calls: the same payments get their answers, and are charged once', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: Date.now() };
  const endings: (() => void)[] = [];
  const app = appContextIn({ after: (work) => void endings.push(work) }, folder, clock);
  recordProbes(app, clock, [probe(HOST, clock.now, { A: ['192.0.2.1'] })]);
  for (const end of endings) end();

  const chain = await startChain(t);
  const facilitator = await startFacilitator(t, chain);
  const env = { ...paidEnv(facilitator.url, chain.url), SERVICES: 'records', LOG_LEVEL: 'info' };
  const killed = await serve(t, folder, env);
  const buyers = await Promise.all(
    Object.entries(STAGES).map(async ([stage, acts]) => {
      const payer = await chain.payer();
      facilitator.treat(payer, acts);
      const signed = await payment(payer, LOOKUP_UNITS);
      const answer = ask(killed.records, LOOKUP, signed.headers).catch(() => null);
      return { stage, payer, signed, answer };
    }),
  );
  const [checked, before, moved, done] = buyers as [Buyer, Buyer, Buyer, Buyer];
  const first = await done.answer;
  assert.equal(first?.status, 200, first?.text);
  await until(() => (facilitator.asked(checked.payer, 'verify') === 1 ? true : null));
  await until(() => (facilitator.asked(before.payer, 'settle') === 1 ? true : null));
  await until(async () => ((await chain.used(moved.signed.authorization)) ? true : null));
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  for (const { answer, stage } of [checked, before, moved]) assert.equal(await answer, null, stage);

  const again = await serve(t, folder, env);
  for (const { payer } of buyers) facilitator.treat(payer, {});
  await Promise.all(
    buyers.map(async ({ stage, payer, signed }) => {
      for (;;) {
        const { status, headers, text } = await ask(again.records, LOOKUP, signed.headers);
        if (status === 503) {
          await sleep(Number(headers['retry-after']) * 1_000);
          continue;
        }
        assert.equal(status, 200, `${stage}: ${text}`);
        if (stage === done.stage) assert.equal(text, first?.text);
        break;
      }
      assert.equal(await chain.balance(payer.address), 1_000_000 - LOOKUP_UNITS, stage);
    }),
  );
  assert.equal(await chain.balance(PAYEE), buyers.length * LOOKUP_UNITS);
  assert.equal(facilitator.asked(moved.payer, 'settle'), 1, 'the chain was looked at, not the facilitator asked');
  assert.match(again.said.stderr, new RegExp(LOOKUP));
  assert.doesNotMatch(again.said.stderr, new RegExp(done.payer.address, 'i'), 'a log holds no payment');
  const { code } = await again.stop();
  assert.equal(code, 0);
});

interface Buyer {
  stage: string;
  payer: Awaited<ReturnType<Awaited<ReturnType<typeof startChain>>['payer']>>;
  signed: Awaited<ReturnType<typeof payment>>;
  answer: Promise<Awaited<ReturnType<typeof ask>> | null>;
}

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { type Act, RAW } from '../../../support/facilitator.ts';
import { type Answer, ask } from '../../../support/http.ts';
import {
  decoded,
  LOOKUP,
  LOOKUP_UNITS,
  type PaidStand,
  paidStand,
  payment,
  type Signed,
} from '../../../support/paid-fixture.ts';

const seeing = WITHOUT_CHAIN === false ? await paidStand({ after }) : ({} as PaidStand);
const blind = WITHOUT_CHAIN === false ? await paidStand({ after }, { node: false }) : ({} as PaidStand);
const { chain, facilitator } = seeing;

/** A new payer who has signed for a lookup, and what the service answers to the payment. */
async function buyer(stand = seeing, version: 1 | 2 = 1) {
  const payer = await stand.chain.payer();
  const signed = await payment(payer, LOOKUP_UNITS, { version });
  const buy = async () => {
    const answer = await ask(stand.url, LOOKUP, signed.headers);
    assert.equal(answer.text.includes(RAW), false, 'a facilitator’s own text came through');
    return answer;
  };
  const spent = async () => 1_000_000 - (await stand.chain.balance(payer.address));
  return { payer, signed, buy, spent };
}

function later({ status, headers, text }: Answer, why: string): void {
  assert.equal(status, 503, text);
  const body = JSON.parse(text);
  assert.deepEqual([body.error, body.reason], ['unavailable', why]);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  assert.match(body.message, /same payment again/);
}

test('a facilitator that cannot check a payment charges nobody, and the payment stays valid', {
  skip: WITHOUT_CHAIN,
}, async () => {
  for (const act of ['fails', 'garbage', 'endless'] as const satisfies readonly Act[]) {
    const { payer, buy, spent } = await buyer();
    facilitator.treat(payer, { verify: act });
    later(await buy(), 'down');
    assert.equal(facilitator.asked(payer, 'settle'), 0, act);
    facilitator.treat(payer, {});
    assert.equal((await buy()).status, 200);
    assert.equal(await spent(), LOOKUP_UNITS);
  }
});

test('a facilitator’s reason for rejection is translated to ours', { skip: WITHOUT_CHAIN }, async () => {
  const { payer, buy, spent } = await buyer();
  facilitator.treat(payer, { verify: 'refuses' });
  const { status, text } = await buy();
  assert.deepEqual([status, JSON.parse(text).reason], [402, 'refused']);
  facilitator.treat(payer, { settle: 'refuses' });
  const second = await buy();
  assert.deepEqual([second.status, JSON.parse(second.text).reason], [402, 'insufficient_funds']);
  assert.equal(await spent(), 0);
  facilitator.treat(payer, {});
  assert.equal((await buy()).status, 200);
});

for (const version of [1, 2] as const) {
  test(`money that moved without confirmation buys the response (version ${version})`, {
    skip: WITHOUT_CHAIN,
  }, async () => {
    const { payer, signed, buy, spent } = await buyer(seeing, version);
    facilitator.treat(payer, { settle: 'silent' });
    const { status, headers, text } = await buy();
    assert.equal(status, 200, text);
    const receipt = decoded(headers[version === 1 ? 'x-payment-response' : 'payment-response']);
    const { status: mined } = await chain.node.getTransactionReceipt({ hash: receipt.transaction as `0x${string}` });
    assert.equal(mined, 'success');
    assert.equal(await chain.used(signed.authorization), true);
    assert.equal(await spent(), LOOKUP_UNITS);
  });
}

test('an unknown settlement is a 503 to retry, and is charged once', {
  skip: WITHOUT_CHAIN,
  concurrency: true,
}, async (t) => {
  const acts = ['lies', 'fails', 'garbage', 'pending'] as const satisfies readonly Act[];
  await Promise.all(
    acts.map((act) =>
      t.test(act, async () => {
        const { payer, signed, buy, spent } = await buyer();
        facilitator.treat(payer, { settle: act });
        later(await buy(), 'unknown');
        assert.equal(await spent(), 0);
        const other = await ask(seeing.url, '/v1/domains/other.example', signed.headers);
        assert.equal(other.status, 409, 'it may be paid, and then it was for the first request');
        facilitator.treat(payer, {});
        const { status, text } = await buy();
        assert.equal(status, 200, text);
        assert.equal(JSON.parse(text).preview, false);
        assert.equal(await spent(), LOOKUP_UNITS);
      }),
    ),
  );
});

test('submitting the payer’s own authorization before the facilitator does still pays for the response', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const carryOut = ({ authorization, signature }: Signed) => chain.carryOut(authorization, signature);
  await t.test('before it came here', async () => {
    const { signed, buy, spent } = await buyer();
    await carryOut(signed);
    assert.equal((await buy()).status, 200);
    assert.equal(await spent(), LOOKUP_UNITS);
    assert.equal((await ask(seeing.url, '/v1/domains', signed.headers)).status, 409, 'and it is spent');
  });
  await t.test('while it is settled', async () => {
    const { payer, signed, buy, spent } = await buyer();
    facilitator.beforeSettling(payer, () => carryOut(signed));
    assert.equal((await buy()).status, 200);
    assert.equal(await spent(), LOOKUP_UNITS);
  });
});

test('a payer who cancels an authorization during settlement pays and gets nothing', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { payer, signed, buy, spent } = await buyer();
  facilitator.beforeSettling(payer, () => chain.cancel(payer, signed.authorization.nonce));
  const { status, text } = await buy();
  assert.deepEqual([status, JSON.parse(text).reason], [402, 'already_spent']);
  assert.equal(await spent(), 0);
});

test('a payment that never settled is rejected permanently once it has expired on the chain', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { payer, signed, buy, spent } = await buyer();
  facilitator.treat(payer, { settle: 'fails' });
  later(await buy(), 'unknown');
  // The last test that pays on this chain: its clock goes one way.
  await chain.node.setNextBlockTimestamp({ timestamp: BigInt(signed.authorization.validBefore) + 1n });
  await chain.node.mine({ blocks: 1 });
  const { status, text } = await buy();
  assert.deepEqual([status, JSON.parse(text).reason], [402, 'expired']);
  assert.equal(await spent(), 0);
});

test('without a node, a refusal is believed, and so is a lie', { skip: WITHOUT_CHAIN }, async () => {
  const { payer, buy, spent } = await buyer(blind);
  blind.facilitator.treat(payer, { settle: 'refuses' });
  assert.equal((await buy()).status, 402);
  blind.facilitator.treat(payer, { settle: 'lies' });
  assert.equal((await buy()).status, 200);
  assert.equal(await spent(), 0);
});

test('a response is stored for a day, then its payment is spent', { skip: WITHOUT_CHAIN }, async () => {
  const { buy } = await buyer(blind);
  const first = await buy();
  const { clock } = blind;
  clock.now += 24 * 3_600_000 - 1;
  assert.equal((await buy()).text, first.text);
  clock.now += 1;
  const { status, text } = await buy();
  assert.deepEqual([status, JSON.parse(text).reason], [409, 'answer_gone']);
});

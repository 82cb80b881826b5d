import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { REPEATS } from '../../../../src/records/meter/checkout.ts';
import { NETWORK, WITHOUT_CHAIN } from '../../../support/chain.ts';
import type { Act } from '../../../support/facilitator.ts';
import { type Answer, ask } from '../../../support/http.ts';
import {
  decoded,
  encoded,
  LIST_UNITS,
  LOOKUP,
  LOOKUP_UNITS,
  type PaidStand,
  paidStand,
  payment,
} from '../../../support/paid-fixture.ts';

const seeing = WITHOUT_CHAIN === false ? await paidStand({ after }) : ({} as PaidStand);
const blind = WITHOUT_CHAIN === false ? await paidStand({ after }, { node: false }) : ({} as PaidStand);
const ZERO = `0x${'00'.repeat(65)}` as const;

const reasonOf = ({ status, text }: Answer): [number, unknown] => [status, JSON.parse(text).reason];

/** The same payment under another signature, as somebody makes it who saw it on the chain. */
function forged(headers: Record<string, string>, odd: Record<string, unknown> = {}): Record<string, string> {
  const { payload, ...rest } = decoded(headers['X-PAYMENT']) as { payload: { authorization: object } };
  const authorization = { ...payload.authorization, ...odd };
  return { 'X-PAYMENT': encoded({ ...rest, payload: { authorization, signature: ZERO } }) };
}

for (const act of ['fails', 'garbage', 'pending', 'silent'] as const satisfies readonly Act[]) {
  test(`without a node nothing is served for a used nonce (its settling ${act})`, { skip: WITHOUT_CHAIN }, async () => {
    const { url, chain, facilitator } = blind;
    const payer = await chain.payer();
    const { headers, authorization } = await payment(payer, LOOKUP_UNITS);
    facilitator.treat(payer, { settle: act });
    assert.deepEqual(reasonOf(await ask(url, LOOKUP, headers)), [503, 'unknown']);
    // Where the money has not moved, the payer takes it back.
    if (act !== 'silent') await chain.cancel(payer, authorization.nonce);
    facilitator.treat(payer, {});
    for (let n = 0; n < 3; n++) {
      const answer = await ask(url, LOOKUP, headers);
      assert.deepEqual(reasonOf(answer), [503, 'unproven']);
      assert.match(JSON.parse(answer.text).message, /X402_RPC_URL/);
      assert.equal(answer.headers['x-payment-response'], undefined);
    }
  });
}

test('the docs state what is sold: credits only where the chain is visible', { skip: WITHOUT_CHAIN }, async () => {
  const docs = async ({ url }: typeof seeing) => (await ask(url, '/docs', { accept: 'text/html' })).text;
  const [sold, unsold] = [await docs(seeing), await docs(blind)];
  assert.match(sold, /\$0\.05 a credit/);
  assert.doesNotMatch(sold, /node_missing/);
  assert.match(unsold, /node_missing/);
  assert.doesNotMatch(unsold, /a credit</);
});

test('a stranger with the nonce of a payment gets neither its stored response nor a pending one', {
  skip: WITHOUT_CHAIN,
}, async () => {
  for (const { url, chain, facilitator } of [seeing, blind]) {
    const payer = await chain.payer();
    const { headers } = await payment(payer, LOOKUP_UNITS);
    const first = await ask(url, LOOKUP, headers);
    assert.equal(first.status, 200, first.text);
    for (const odd of [{}, { value: '1' }, { validBefore: '99999999999' }]) {
      const answer = await ask(url, LOOKUP, forged(headers, odd));
      assert.deepEqual(reasonOf(answer), [409, 'other_payment']);
      assert.equal(answer.headers['x-payment-response'], undefined);
    }
    assert.equal((await ask(url, LOOKUP, headers)).text, first.text, 'its payer does');

    const slow = await chain.payer();
    const { headers: undecided } = await payment(slow, LOOKUP_UNITS);
    facilitator.treat(slow, { settle: 'fails' });
    assert.equal((await ask(url, LOOKUP, undecided)).status, 503);
    assert.deepEqual(reasonOf(await ask(url, LOOKUP, forged(undecided))), [409, 'other_payment']);
    facilitator.treat(slow, {});
    assert.equal((await ask(url, LOOKUP, undecided)).status, 200);
  }
});

test('a transfer settled before the request buys nothing for a stranger', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { url, chain } = seeing;
  const payer = await chain.payer();
  const { headers, authorization, signature } = await payment(payer, LOOKUP_UNITS);
  await chain.carryOut(authorization, signature);
  assert.deepEqual(reasonOf(await ask(url, LOOKUP, forged(headers))), [402, 'bad_signature']);
  const paid = await ask(url, LOOKUP, headers);
  assert.equal(paid.status, 200, paid.text);
});

test('fifty concurrent requests with a settled payment get exactly the allowed repeats, each for the same request', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { url, chain, app } = blind;
  const { headers, authorization } = await payment(await chain.payer(), LIST_UNITS);
  const first = await ask(url, '/v1/domains', headers);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(reasonOf(await ask(url, '/v1/domains?limit=1', headers)), [409, 'other_request']);
  const left = 20;
  const { nonce, from } = authorization;
  const id = { network: NETWORK.caip2, asset: NETWORK.usdc.address, payer: from.toLowerCase(), nonce };
  for (let n = left; n < REPEATS; n++) assert.ok(app.store.records.payments.repeat(id, REPEATS));
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(url, '/v1/domains', headers)));
  const served = answers.filter(({ status }) => status === 200);
  assert.equal(served.length, left);
  assert.deepEqual(new Set(served.map(({ text }) => text)), new Set([first.text]));
  const refused = answers.filter(({ status }) => status !== 200).map(reasonOf);
  assert.deepEqual(refused, Array(50 - left).fill([409, 'repeated']));
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { type Answer, ask } from '../../../support/http.ts';
import {
  decoded,
  encoded,
  LIST_UNITS,
  LOOKUP,
  LOOKUP_UNITS,
  type Odd,
  PAYEE,
  type PaidStand,
  paidStand,
  payment,
} from '../../../support/paid-fixture.ts';
import { shout } from '../../../support/raw.ts';

const STRANGER = '0x00000000000000000000000000000000000beef1';
const seconds = () => Math.floor(Date.now() / 1_000);

const { url, chain, facilitator, keyOf } = WITHOUT_CHAIN === false ? await paidStand({ after }) : ({} as PaidStand);
const payer = await chain.payer();
const good = await payment(payer, LOOKUP_UNITS);
const text = good.headers['X-PAYMENT'] ?? '';
const value = decoded(text) as { payload: { authorization: object; signature: string } };
const { authorization, signature } = value.payload;

function v1(payload: object): Record<string, string> {
  return { 'X-PAYMENT': encoded({ ...value, payload }) };
}

const MALFORMED: Record<string, Record<string, string>> = {
  'no base64': { 'X-PAYMENT': 'pay me!' },
  nothing: { 'X-PAYMENT': '' },
  'base64 for addresses': { 'X-PAYMENT': `${text.slice(0, 40)}-_${text.slice(42)}` },
  'two in one header': { 'X-PAYMENT': `${text}, ${text}` },
  'base64 of no JSON': { 'X-PAYMENT': Buffer.from('{"x402Version":1').toString('base64') },
  'bytes that are no UTF-8': { 'X-PAYMENT': Buffer.from([0x22, 0xff, 0x22]).toString('base64') },
  'a list': { 'X-PAYMENT': encoded([value]) },
  null: { 'X-PAYMENT': encoded(null) },
  'too long': { 'X-PAYMENT': encoded({ ...value, more: 'x'.repeat(9_500) }) },
  'of another version': { 'X-PAYMENT': encoded({ ...value, x402Version: 2 }) },
  'of version 3': { 'X-PAYMENT': encoded({ ...value, x402Version: 3 }) },
  'of version 1 in the header of version 2': { 'PAYMENT-SIGNATURE': text },
  'without a payload': { 'X-PAYMENT': encoded({ ...value, payload: undefined }) },
  'without a signature': v1({ authorization }),
  'with a short signature': v1({ authorization, signature: '0xabcd' }),
  'with a signature that is no hex': v1({ authorization, signature: `0xzz${signature.slice(4)}` }),
  'with half a byte more': v1({ authorization, signature: `${signature}a` }),
  'with a broken value': v1({ signature, authorization: { ...authorization, value: '1e3' } }),
  'with a negative value': v1({ signature, authorization: { ...authorization, value: '-1000' } }),
  'with a value in two ways': v1({ signature, authorization: { ...authorization, value: '01000' } }),
  'with a number for a value': v1({ signature, authorization: { ...authorization, value: 1_000 } }),
  'with a value past 256 bits': v1({ signature, authorization: { ...authorization, value: '9'.repeat(79) } }),
  'with a short nonce': v1({ signature, authorization: { ...authorization, nonce: '0x01' } }),
  'with no address to pay': v1({ signature, authorization: { ...authorization, to: 'alice.eth' } }),
  'with both headers': { 'X-PAYMENT': text, 'PAYMENT-SIGNATURE': text },
};

test('a malformed payment is a 400 that names the header, without a call to the facilitator', {
  skip: WITHOUT_CHAIN,
}, async () => {
  for (const [name, headers] of Object.entries(MALFORMED)) {
    const answer = await ask(url, LOOKUP, headers);
    assert.equal(answer.status, 400, `${name}: ${answer.text}`);
    const body = JSON.parse(answer.text);
    assert.equal(body.error, 'invalid_request', name);
    assert.match(body.field, /^(?:X-PAYMENT|PAYMENT-SIGNATURE)$/, name);
    assert.match(body.message, /nothing was charged/i, name);
  }
  assert.equal(facilitator.asked(payer, 'verify'), 0);
});

test('a repeated payment header is rejected', { skip: WITHOUT_CHAIN }, async () => {
  const { host } = new URL(url);
  const lines = [
    `GET ${LOOKUP} HTTP/1.1`,
    `Host: ${host}`,
    `X-Payment: ${text}`,
    `X-Payment: ${text}`,
    'Connection: close',
  ];
  const answer = await shout(url, `${lines.join('\r\n')}\r\n\r\n`);
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.equal(facilitator.asked(payer, 'verify'), 0);
});

const HEAD_AND_KEY = 'a HEAD is not sold, and beside a key a payment is left untouched';
test(HEAD_AND_KEY, { skip: WITHOUT_CHAIN }, async () => {
  assert.equal((await ask(url, LOOKUP, good.headers, 'HEAD')).status, 400);
  const keyed = await ask(url, LOOKUP, { ...good.headers, 'X-Service-Key': keyOf('account') });
  assert.equal(keyed.status, 200);
  assert.equal(keyed.headers['x-payment-response'], undefined);
  const export_ = await ask(url, '/v1/exports/changes.csv', good.headers);
  assert.equal(export_.status === 403 || export_.status === 404, true);
  assert.equal(facilitator.asked(payer, 'verify'), 0);
});

const UNFIT: [reason: string, odd: Odd, units?: number][] = [
  ['wrong_network', { network: 'base' }],
  ['wrong_network', { version: 2, network: 'eip155:1' }],
  ['wrong_scheme', { scheme: 'upto' }],
  ['wrong_asset', { version: 2, accepted: { asset: STRANGER } }],
  ['wrong_payee', { to: STRANGER }],
  ['wrong_payee', { version: 2, accepted: { payTo: STRANGER } }],
  ['wrong_amount', {}, LOOKUP_UNITS - 1],
  ['wrong_amount', {}, LOOKUP_UNITS + 1],
  ['wrong_amount', { version: 2, accepted: { amount: '1' } }],
  ['expired', { validBefore: String(seconds() - 1) }],
  ['not_yet_valid', { validAfter: String(seconds() + 100) }],
  ['bad_signature', { signature: `0x${'11'.repeat(64)}1b` }],
  ['bad_signature', { version: 2, signature: `0x${'11'.repeat(64)}1b` }],
];

for (const version of [1, 2] as const) {
  test(`a payment that does not fit an offer is a 402 with the reason (version ${version})`, {
    skip: WITHOUT_CHAIN,
  }, async () => {
    for (const [reason, odd, units = LOOKUP_UNITS] of UNFIT.filter(([, odd]) => (odd.version ?? 1) === version)) {
      const { headers } = await payment(payer, units, odd);
      refusedFor(reason, await ask(url, LOOKUP, headers));
    }
    assert.equal(await chain.balance(payer.address), 1_000_000);
  });
}

test('a payer without funds is told so, and a cancelled authorization buys nothing', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const poor = await chain.payer(LOOKUP_UNITS - 1);
  refusedFor('insufficient_funds', await ask(url, LOOKUP, (await payment(poor, LOOKUP_UNITS)).headers));
  const { headers, authorization: taken } = await payment(payer, LOOKUP_UNITS);
  await chain.cancel(payer, taken.nonce);
  refusedFor('already_spent', await ask(url, LOOKUP, headers));
});

test('an authorization that was spent elsewhere buys nothing, though its nonce is used', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const elsewhere = await payment(payer, LOOKUP_UNITS, { to: STRANGER });
  await chain.carryOut(elsewhere.authorization, elsewhere.signature);
  const { headers } = await payment(payer, LOOKUP_UNITS, { nonce: elsewhere.authorization.nonce });
  refusedFor('already_spent', await ask(url, LOOKUP, headers));
});

test('the menu is available in RFC 9457 form, with the offer', { skip: WITHOUT_CHAIN }, async () => {
  const accept = { Accept: 'application/problem+json' };
  const { headers } = await payment(payer, 1);
  const answer = await ask(url, LOOKUP, { ...headers, ...accept });
  assert.deepEqual([answer.status, answer.headers['content-type']], [402, 'application/problem+json']);
  const body = JSON.parse(answer.text);
  assert.deepEqual([body.status, body.detail, body.accepts.length], [402, body.message, 1]);
  refusedFor('wrong_amount', answer);
});

test('a request that the route rejects is not charged, and the payment stays valid', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { headers } = await payment(await chain.payer(), LOOKUP_UNITS);
  const before = await chain.balance(PAYEE);
  for (const [path, status] of [
    ['/v1/domains/not-watched.example', 404],
    ['/v1/domains/a..b', 400],
    [`${LOOKUP}?as_of=yesterday`, 400],
  ] as const) {
    const answer = await ask(url, path, headers);
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.headers['x-payment-response'], undefined);
  }
  assert.equal(await chain.balance(PAYEE), before);
  assert.equal((await ask(url, LOOKUP, headers)).status, 200);
  assert.equal(await chain.balance(PAYEE), before + LOOKUP_UNITS);
});

test('a payment buys one answer: the same again for the same request, and 409 for another', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const { headers } = await payment(await chain.payer(), LIST_UNITS);
  const before = await chain.balance(PAYEE);
  const first = await ask(url, '/v1/domains', headers);
  assert.equal(first.status, 200, first.text);
  const again = await ask(url, '/v1/domains', headers);
  assert.deepEqual([again.status, again.text], [200, first.text]);
  assert.equal(again.headers['x-payment-response'], first.headers['x-payment-response']);
  for (const path of ['/v1/changes', '/v1/domains?limit=1', LOOKUP]) {
    const other = await ask(url, path, headers);
    assert.equal(other.status, 409, other.text);
    assert.equal(JSON.parse(other.text).reason, 'other_request');
  }
  assert.equal(await chain.balance(PAYEE), before + LIST_UNITS);
});

test('ten concurrent requests with one payment are charged once and all answered', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const buyer = await chain.payer();
  const { headers } = await payment(buyer, LOOKUP_UNITS);
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(url, LOOKUP, headers)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ text: body }) => body)).size, 1);
  assert.equal(await chain.balance(buyer.address), 1_000_000 - LOOKUP_UNITS);
  assert.deepEqual([facilitator.asked(buyer, 'verify'), facilitator.asked(buyer, 'settle')], [1, 1]);
});

test('one payment for ten concurrent requests: one is served, the others are rejected', {
  skip: WITHOUT_CHAIN,
}, async () => {
  const buyer = await chain.payer();
  const { headers } = await payment(buyer, LIST_UNITS);
  const paths = Array.from({ length: 10 }, (_, at) => `/v1/domains?limit=${at + 1}`);
  const statuses = (await Promise.all(paths.map((path) => ask(url, path, headers)))).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), [200, ...Array(9).fill(409)]);
  assert.equal(await chain.balance(buyer.address), 1_000_000 - LIST_UNITS);
});

function refusedFor(reason: string, { status, text: body, headers }: Answer): void {
  assert.equal(status, 402, `${reason}: ${body}`);
  const { error, reason: told, accepts, message } = JSON.parse(body);
  assert.deepEqual([error, told, accepts.length], ['payment_required', reason, 1], message);
  assert.match(message, /Nothing was charged/);
  assert.equal(decoded(headers['payment-required']).x402Version, 2);
  const receipt = decoded(headers['x-payment-response'] ?? headers['payment-response']);
  assert.deepEqual([receipt.success, receipt.errorReason], [false, reason]);
}

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeEventTopics, parseAbi, toHex } from 'viem';
import { chainClient } from '../../src/records/meter/chain.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { loopback } from '../support/loopback.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

const payment = decodePayment(samplePayment(1), 1);
const { from, to, nonce, value } = payment.transfer.authorization;
const TOKEN = OFFER.asset.address;
const TRANSACTION = `0x${'0a'.repeat(32)}`;
const word = (number: bigint | number) => toHex(number, { size: 32 });

const EVENTS = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

const USED = {
  address: TOKEN,
  topics: encodeEventTopics({
    abi: EVENTS,
    eventName: 'AuthorizationUsed',
    args: { authorizer: from as never, nonce: nonce as never },
  }),
  data: '0x',
  logIndex: '0x4',
  transactionHash: TRANSACTION,
};
const MOVED = {
  address: TOKEN,
  topics: encodeEventTopics({ abi: EVENTS, eventName: 'Transfer', args: { from: from as never, to: to as never } }),
  data: word(BigInt(value)),
  logIndex: '0x5',
  transactionHash: TRANSACTION,
};

type Method = (params: never[]) => unknown;

/** What a node answers by method while the transfer is on the chain. */
const PAID: Record<string, Method> = {
  eth_getBlockByNumber: () => ({ number: '0x64', timestamp: '0x6553f100', transactions: [] }),
  eth_call: () => word(1),
  eth_getLogs: () => [USED],
  eth_getTransactionReceipt: () => ({ status: '0x1', logs: [USED, MOVED] }),
};

type Asked = { id: number; method: string; params: never[] };
type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

/** The chain as it is seen through a node that answers so. */
async function chainOf(t: TestContext, answer: Answer, { wait = 2_000, user = '' } = {}) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    await answer(JSON.parse(Buffer.concat(chunks).toString()), response, request);
  });
  const url = await loopback(t, server);
  return chainClient(url.replace('//', `//${user}`), wait);
}

/** A node that answers by method, and what it was asked. */
async function nodeOf(t: TestContext, methods: Record<string, Method>) {
  const asked: Asked[] = [];
  const chain = await chainOf(t, (question, response) => {
    asked.push(question);
    const { id, method, params } = question;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method]?.(params) ?? null }));
  });
  return { chain, asked };
}

const SIGHTS: [name: string, methods: Record<string, Method>, sight: unknown][] = [
  ['paid', {}, { paid: TRANSACTION }],
  [
    'paid, in capital letters',
    {
      eth_getLogs: () => [{ ...USED, address: `0x${TOKEN.slice(2).toUpperCase()}` }],
      eth_getTransactionReceipt: () => ({
        status: '0x1',
        logs: [USED, { ...MOVED, data: MOVED.data.toUpperCase().replace('0X', '0x') }],
      }),
    },
    { paid: TRANSACTION },
  ],
  ['not used', { eth_call: () => word(0) }, 'open'],
  [
    'not used and late',
    { eth_call: () => word(0), eth_getBlockByNumber: () => ({ number: '0x64', timestamp: '0x174876e7ff' }) },
    { void: 'expired' },
  ],
  ['used without an event', { eth_getLogs: () => [] }, { void: 'already_spent' }],
  ['an event of another payer', { eth_getLogs: () => [{ ...USED, topics: MOVED.topics }] }, 'unseen'],
  ['an event of another token', { eth_getLogs: () => [{ ...USED, address: from }] }, 'unseen'],
  [
    'a transaction that failed',
    { eth_getTransactionReceipt: () => ({ status: '0x0', logs: [USED, MOVED] }) },
    { void: 'already_spent' },
  ],
  [
    'less money',
    { eth_getTransactionReceipt: () => ({ status: '0x1', logs: [USED, { ...MOVED, data: word(1) }] }) },
    { void: 'already_spent' },
  ],
  [
    'a transfer elsewhere in the transaction',
    { eth_getTransactionReceipt: () => ({ status: '0x1', logs: [USED, { ...MOVED, logIndex: '0x6' }] }) },
    { void: 'already_spent' },
  ],
  [
    'a transfer of another token',
    { eth_getTransactionReceipt: () => ({ status: '0x1', logs: [USED, { ...MOVED, address: from }] }) },
    { void: 'already_spent' },
  ],
  ['no receipt', { eth_getTransactionReceipt: () => null }, 'unseen'],
  ['no block', { eth_getBlockByNumber: () => null }, 'unseen'],
  ['a block without a time', { eth_getBlockByNumber: () => ({ number: '0x64' }) }, 'unseen'],
  ['numbers as numbers', { eth_getBlockByNumber: () => ({ number: 100, timestamp: 1_700_000_000 }) }, 'unseen'],
  ['a truth that is none', { eth_call: () => word(2) }, 'unseen'],
  ['an empty answer, as where there is no token', { eth_call: () => '0x' }, 'unseen'],
  ['logs that are none', { eth_getLogs: () => [{ address: TOKEN }] }, 'unseen'],
  ['a list that is none', { eth_getLogs: () => 'none' }, 'unseen'],
];

for (const [name, methods, sight] of SIGHTS) {
  test(`what a node shows of a payment: ${name}`, async (t) => {
    const { chain } = await nodeOf(t, { ...PAID, ...methods });
    assert.deepEqual(await chain.status(payment, OFFER), sight);
  });
}

test('a used authorization is searched block by block to the first, in one state of the chain', async (t) => {
  const { chain, asked } = await nodeOf(t, {
    ...PAID,
    eth_getBlockByNumber: () => ({ number: '0x1068', timestamp: '0x1' }),
    eth_getLogs: () => [],
  });
  assert.deepEqual(await chain.status(payment, OFFER), { void: 'already_spent' });
  const [block, state, ...searches] = asked.map(({ params }) => params as unknown[]);
  assert.deepEqual(block, ['latest', false]);
  assert.equal(state?.[1], '0x1068');
  const spans = searches.map(([filter]) => {
    const { fromBlock, toBlock } = filter as Record<string, string>;
    return [Number(fromBlock), Number(toBlock)];
  });
  assert.deepEqual(spans, [
    [2_201, 4_200],
    [201, 2_200],
    [0, 200],
  ]);
  assert.equal(new Set(asked.map(({ id }) => id)).size, asked.length, 'each question has an id of its own');
});

test('the transaction that a facilitator names is enough when the transfer is in it', async (t) => {
  const named = { poll: false, reported: TRANSACTION };
  const { chain, asked } = await nodeOf(t, PAID);
  assert.deepEqual(await chain.status(payment, OFFER, named), { paid: TRANSACTION });
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['eth_getTransactionReceipt'],
  );
});

const result = ({ id, method, params }: Asked) => ({ jsonrpc: '2.0', id, result: PAID[method]?.(params) });
const failed =
  (code: number, message: string): Answer =>
  ({ id }, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));

const LIARS: [name: string, answer: Answer][] = [
  ['no JSON', (_, response) => response.end('<html>')],
  ['nothing', (_, response) => response.end()],
  ['a list', (asked, response) => response.end(JSON.stringify([result(asked)]))],
  ['another id', (asked, response) => response.end(JSON.stringify({ ...result(asked), id: asked.id + 1 }))],
  ['no id', (asked, response) => response.end(JSON.stringify({ ...result(asked), id: undefined }))],
  ['an id as text', (asked, response) => response.end(JSON.stringify({ ...result(asked), id: String(asked.id) }))],
  ['a failing server', (asked, response) => response.writeHead(503).end(JSON.stringify(result(asked)))],
  ['an error', failed(-32_005, 'limit exceeded')],
  [
    'an error beside a result',
    (asked, response) => response.end(JSON.stringify({ ...result(asked), error: { code: -32_000, message: '' } })),
  ],
  ['an error that is none', ({ id }, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, error: 'no' }))],
  ['a hang-up', (_, response) => response.destroy()],
  ['10 MB', (asked, response) => response.end(JSON.stringify({ ...result(asked), more: 'x'.repeat(10_000_000) }))],
  [
    'no end',
    async (_, response) => {
      while (!response.destroyed) {
        response.write(' '.repeat(65_536));
        await pause(1);
      }
    },
  ],
];

for (const [name, answer] of LIARS) {
  test(`a node that answers wrongly shows nothing: ${name}`, async (t) => {
    const chain = await chainOf(t, answer);
    assert.equal(await chain.status(payment, OFFER), 'unseen');
    assert.equal(await chain.status(payment, OFFER, { poll: false, reported: TRANSACTION }), 'unseen');
    assert.equal(await chain.isSigned(payment, OFFER), null);
  });
}

test('a node that hangs, or that answers a byte at a time, is not waited for', async (t) => {
  const drips: Answer = async (asked, response) => {
    for (const byte of JSON.stringify(result(asked))) {
      if (response.destroyed) return;
      response.write(byte);
      await pause(20);
    }
    response.end();
  };
  for (const answer of [() => {}, drips]) {
    const chain = await chainOf(t, answer, { wait: 100 });
    assert.equal(await chain.status(payment, OFFER), 'unseen');
    assert.equal(await chain.isSigned(payment, OFFER), null);
  }
  assert.equal(await chainClient('http://127.0.0.1:1').status(payment, OFFER), 'unseen');
});

const MAGIC = `0x1626ba7e${'0'.repeat(56)}`;
const WORDS: [name: string, answer: Answer, isSigned: boolean | null][] = [
  ['agrees', ({ id }, response) => response.end(JSON.stringify({ id, result: MAGIC })), true],
  ['answers another word', ({ id }, response) => response.end(JSON.stringify({ id, result: word(1) })), false],
  ['is not there', ({ id }, response) => response.end(JSON.stringify({ id, result: '0x' })), false],
  ['refuses', failed(3, 'execution reverted: no'), false],
  ['refuses, in the words of an older node', failed(-32_000, 'execution reverted'), false],
  ['cannot be asked', failed(-32_005, 'limit exceeded'), null],
];

for (const [name, answer, isSigned] of WORDS) {
  test(`a payer that is a contract: it ${name}`, async (t) => {
    const calls: unknown[] = [];
    const chain = await chainOf(t, (asked, response, request) => {
      calls.push(asked.method, (asked.params as { to?: string }[])[0]?.to);
      return answer(asked, response, request);
    });
    assert.equal(await chain.isSigned(payment, OFFER), isSigned);
    assert.deepEqual(calls, ['eth_call', from]);
  });
}

test('a name and a password in the address are sent as a header', async (t) => {
  let sent: string | undefined;
  const answer: Answer = (asked, response, { headers }) => {
    sent = headers.authorization;
    response.end(JSON.stringify(result(asked)));
  };
  const chain = await chainOf(t, answer, { user: 'me%40home:s%3Acret@' });
  assert.deepEqual(await chain.status(payment, OFFER), { paid: TRANSACTION });
  assert.equal(sent, `Basic ${Buffer.from('me@home:s:cret').toString('base64')}`);
});

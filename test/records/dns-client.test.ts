import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE } from 'dns-packet';
import type { Signal } from '../../src/proof/records/signal.ts';
import { type Server, Upstream } from '../../src/records/probe/dns/upstream.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { answerTo, type Heard, lyingServer, type Reply } from '../support/lying-server.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NAME = 'host.example.com';
/** How long a test waits for an answer that does not come, in ms. */
const WAIT = 60;

interface Scope {
  after(work: () => unknown): void;
}

function client(t: Scope, servers: Server[], more: { tries?: number; firstWait?: number } = {}) {
  const resolver = createResolver({ servers, firstWait: WAIT, ...more });
  t.after(() => resolver.close());
  return resolver;
}

/** What the client makes of one server. */
async function asked(t: Scope, reply: Reply, { tcp = true, firstWait = WAIT } = {}) {
  const server = await lyingServer(t, reply, { tcp });
  const signal = await client(t, [server], { firstWait }).ask(NAME, 'A');
  return { signal, server };
}

const A = (data: string) => ({ type: 'A' as const, name: NAME, ttl: 60, data });
const truth: Reply = (heard) => [answerTo(heard, { answers: [A('192.0.2.1')] })];

function assertUnknown(signal: Signal, status: Signal['status']): void {
  assert.equal(signal.status, status);
  assert.deepEqual(signal.values, []);
  assert.equal(signal.ttl, null);
}

test('a true answer, with what came with it', async (t) => {
  const { signal, server } = await asked(t, (heard) => [
    answerTo(heard, { flags: AUTHORITATIVE_ANSWER | 0x20, answers: [A('192.0.2.2'), A('192.0.2.1')] }),
  ]);
  assert.partialDeepStrictEqual(signal, {
    status: 'ok',
    ttl: 60,
    values: ['192.0.2.1', '192.0.2.2'],
    transport: 'udp',
    flags: { aa: true, ad: true, tc: false },
    resolver: `127.0.0.1:${server.port}`,
  });
  assert.ok((signal.rtt_ms ?? -1) >= 0);
  const opt = server.heard[0]?.query.additionals?.[0];
  assert.partialDeepStrictEqual(opt, { type: 'OPT', udpPayloadSize: 1_232, flag_do: true });
});

test('a resolver is reached by IPv6 too', {
  skip: networkInterfaces().lo?.some(({ address }) => address === '::1') ? false : 'this machine has no ::1',
}, async (t) => {
  const cut: Reply = (heard) => (heard.by === 'tcp' ? truth(heard) : [answerTo(heard, { flags: TRUNCATED_RESPONSE })]);
  for (const [reply, transport] of [
    [truth, 'udp'],
    [cut, 'tcp'],
  ] as const) {
    const server = await lyingServer(t, reply, { address: '::1' });
    const signal = await client(t, [server]).ask(NAME, 'A');
    assert.partialDeepStrictEqual(signal, { status: 'ok', transport, resolver: `[::1]:${server.port}` });
  }
});

test('letters, numbers and ports are not to be guessed, and answers are known by them', async (t) => {
  const server = await lyingServer(t, truth);
  const { ask } = client(t, [server]);
  for (let index = 0; index < 40; index++) assert.equal((await ask(NAME, 'A')).status, 'ok');
  const spellings = new Set(server.heard.map(({ query }) => query.questions?.[0]?.name));
  assert.ok(spellings.size > 30);
  assert.ok(new Set(server.heard.map(({ query }) => query.id)).size > 30);
  assert.ok(new Set(server.heard.map(({ from }) => from)).size > 1);
});

test('statuses that mean unknown', async (t) => {
  for (const [rcode, status, queries] of [
    [2, 'servfail', 3],
    [5, 'refused', 1],
    [4, 'notimp', 2],
    [9, 'error', 1],
  ] as const) {
    const { signal, server } = await asked(t, (heard) => [answerTo(heard, { rcode })]);
    assertUnknown(signal, status);
    assert.equal(server.heard.length, queries, status);
  }
  const { signal } = await asked(t, (heard) => [answerTo(heard, { rcode: 5, questions: [] })]);
  assertUnknown(signal, 'refused');
});

test('codes that say that there is nothing', async (t) => {
  assert.equal((await asked(t, (heard) => [answerTo(heard, { rcode: 3 })])).signal.status, 'nxdomain');
  assert.equal((await asked(t, (heard) => [answerTo(heard)])).signal.status, 'nodata');
});

test('a server that does not understand EDNS is asked without it', async (t) => {
  for (const rcode of [1, 4]) {
    const { signal, server } = await asked(t, (heard) =>
      (heard.query.additionals ?? []).length > 0 ? [answerTo(heard, { rcode })] : truth(heard),
    );
    assert.equal(signal.status, 'ok');
    assert.equal(server.heard.length, 2);
  }
});

test('silence and a closed port', async (t) => {
  const { signal, server } = await asked(t, () => []);
  assertUnknown(signal, 'timeout');
  assert.equal(signal.transport, null);
  assert.equal(server.heard.length, 3);
  const free = createSocket('udp4');
  await new Promise<void>((done) => free.bind(0, '127.0.0.1', done));
  const { port } = free.address();
  await new Promise<void>((done) => free.close(() => done()));
  // Nobody could wait this long: the kernel says at once that nobody listens.
  const { ask } = client(t, [{ address: '127.0.0.1', port }], { firstWait: 100_000 });
  assertUnknown(await ask(NAME, 'A'), 'unreachable');
});

test('answers to another number, another question, or none', { skip: ONLY_WIDE }, async (t) => {
  const lies: Record<string, (heard: Heard) => Buffer> = {
    'another number': (heard) =>
      answerTo(heard, { id: ((heard.query.id ?? 0) + 1) % 65_536, answers: [A('192.0.2.66')] }),
    'another name': (heard) =>
      answerTo(heard, { questions: [{ name: 'other.example.com', type: 'A' }], answers: [A('192.0.2.66')] }),
    'another type': (heard) =>
      answerTo(heard, { questions: [{ name: NAME, type: 'TXT' }], answers: [A('192.0.2.66')] }),
    'another class': (heard) =>
      answerTo(heard, { questions: [{ name: NAME, type: 'A', class: 'CH' }], answers: [A('192.0.2.66')] }),
    'no question': (heard) => answerTo(heard, { questions: [], answers: [A('192.0.2.66')] }),
    'the query itself': ({ bytes }) => bytes,
    'one byte': () => Buffer.from([7]),
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { signal } = await asked(t, (heard) => [lie(heard)]);
    assert.equal(signal.status, 'malformed', what);
    assert.deepEqual(signal.values, []);
    // The lie comes first, and what is true is still heard.
    const late = await asked(t, (heard) => [lie(heard), ...truth(heard)], { firstWait: 100_000 });
    assert.deepEqual(late.signal.values, ['192.0.2.1'], what);
    assert.equal(late.server.heard.length, 1);
  }
});

test('an answer from another port is not heard at all', async (t) => {
  const forger = createSocket('udp4');
  t.after(() => forger.close());
  await new Promise<void>((done) => forger.bind(0, '127.0.0.1', done));
  const { signal } = await asked(t, (heard) => {
    const [forged] = truth(heard);
    if (forged !== undefined && heard.by === 'udp') forger.send(forged, heard.from, '127.0.0.1');
    return [];
  });
  assertUnknown(signal, 'timeout');
});

test('a server that does not echo our letters is asked over TCP', async (t) => {
  const respell: Reply = (heard) => {
    const bytes = truth(heard)[0] as Buffer;
    const name = bytes.subarray(12, 12 + NAME.length + 2);
    name.set(Buffer.from(name.toString('latin1').toLowerCase(), 'latin1'));
    // Should chance have made every letter small, the answer is spelled as the question.
    return [bytes];
  };
  const { signal, server } = await asked(t, respell);
  assert.equal(signal.status, 'ok');
  const isSmall = server.heard[0]?.query.questions?.[0]?.name === NAME;
  assert.equal(signal.transport, isSmall ? 'udp' : 'tcp');
  assert.equal(server.heard.length, isSmall ? 1 : 2);
});

test('what UDP truncates comes over TCP, or is truncated', async (t) => {
  const cut: Reply = (heard) =>
    heard.by === 'tcp' ? truth(heard) : [answerTo(heard, { flags: TRUNCATED_RESPONSE, answers: [A('192.0.2.66')] })];
  const whole = await asked(t, cut);
  assert.partialDeepStrictEqual(whole.signal, { status: 'ok', values: ['192.0.2.1'], transport: 'tcp' });
  assert.deepEqual(
    whole.server.heard.map(({ by }) => by),
    ['udp', 'tcp'],
  );
  assertUnknown((await asked(t, cut, { tcp: false })).signal, 'truncated');
  const still = await asked(t, (heard) => [answerTo(heard, { flags: TRUNCATED_RESPONSE })]);
  assertUnknown(still.signal, 'truncated');
  assert.equal(still.signal.flags.tc, true);
  const silent = await asked(t, (heard) => (heard.by === 'tcp' ? [] : cut(heard)));
  assertUnknown(silent.signal, 'truncated');
});

test('4,000 records are too many, and 500 are not', async (t) => {
  const many = (count: number): Reply => {
    const answers = Array.from({ length: count }, (_, index) => A(`10.0.${index >> 8}.${index & 255}`));
    return (heard) =>
      heard.by === 'udp'
        ? [answerTo(heard, { flags: TRUNCATED_RESPONSE })]
        : // Names by pointer, or 4,000 records would be longer than a message.
          [
            compressed(
              answerTo(heard),
              answers.map(({ data }) => data),
            ),
          ];
  };
  assertUnknown((await asked(t, many(4_000), { firstWait: 5_000 })).signal, 'too_many');
  const { signal } = await asked(t, many(500), { firstWait: 5_000 });
  assert.equal(signal.status, 'ok');
  assert.equal(signal.values.length, 500);
});

/** An answer with these addresses, each of whose names points to the question's. */
function compressed(empty: Buffer, addresses: string[]): Buffer {
  const header = Buffer.from(empty);
  header.writeUInt16BE(addresses.length, 6);
  const start = Buffer.from('c00c000100010000003c0004', 'hex');
  return Buffer.concat([
    header,
    ...addresses.flatMap((address) => [start, Buffer.from(address.split('.').map(Number))]),
  ]);
}

test('alias loops, pointer loops, and records of other names', async (t) => {
  const loop = await asked(t, (heard) => [
    answerTo(heard, {
      answers: [
        { type: 'CNAME', name: NAME, data: 'b.example.com' },
        { type: 'CNAME', name: 'b.example.com', data: NAME },
      ],
    }),
  ]);
  assertUnknown(loop.signal, 'loop');
  assert.equal(loop.server.heard.length, 1);
  const pointer = await asked(t, (heard) => {
    const bytes = Buffer.from(compressed(answerTo(heard), ['192.0.2.1']));
    const at = bytes.length - 16;
    bytes.writeUInt16BE(0xc000 | at, at);
    return [bytes];
  });
  assertUnknown(pointer.signal, 'malformed');
  const other = await asked(t, (heard) => [
    answerTo(heard, { answers: [{ ...A('192.0.2.66'), name: 'other.example' }] }),
  ]);
  assertUnknown(other.signal, 'malformed');
});

test('a server that only refers to others says nothing but where', async (t) => {
  const refer: Reply = (heard) => [
    answerTo(heard, {
      flags: 0,
      authorities: [
        { type: 'NS', name: NAME, ttl: 300, data: 'ns1.example.net' },
        { type: 'NS', name: NAME, ttl: 300, data: 'ns2.example.net' },
      ],
    }),
  ];
  const server = await lyingServer(t, refer);
  const { ask } = client(t, [server]);
  assert.partialDeepStrictEqual(await ask(NAME, 'NS'), {
    status: 'ok',
    values: ['ns1.example.net', 'ns2.example.net'],
    ttl: 300,
  });
  assertUnknown(await ask(NAME, 'A'), 'error');
  assertUnknown(await ask(`below.${NAME}`, 'NS'), 'error');
});

test('one resolver after the other is asked until one knows', async (t) => {
  const silent = await lyingServer(t, () => []);
  const failing = await lyingServer(t, (heard) => [answerTo(heard, { rcode: 2 })]);
  const knowing = await lyingServer(t, truth);
  const { ask } = client(t, [silent, failing, knowing]);
  for (let index = 0; index < 6; index++) assert.equal((await ask(NAME, 'A')).status, 'ok');
  // Each begins with the next: two with each, and those go on to the others.
  assert.deepEqual([silent.heard.length, failing.heard.length, knowing.heard.length], [2, 4, 6]);
  const refusing = await lyingServer(t, (heard) => [answerTo(heard, { rcode: 5 })]);
  const both = client(t, [refusing, silent]);
  const before = silent.heard.length;
  assertUnknown(await both.ask(NAME, 'A'), 'timeout');
  assert.deepEqual([refusing.heard.length, silent.heard.length - before], [1, 2]);
});

test('a resolver that stays silent is asked last for a while', async (t) => {
  const silent = await lyingServer(t, () => []);
  const knowing = await lyingServer(t, truth);
  const { ask } = client(t, [silent, knowing], { firstWait: 60 });
  for (let index = 0; index < 60; index++) assert.equal((await ask(NAME, 'A')).status, 'ok');
  // Twenty where the other one answers in time; asked in turn it would be sixty.
  assert.ok(silent.heard.length >= 20 && silent.heard.length <= 30, `${silent.heard.length} questions`);
});

test('the rate and the concurrency of queries are limited, in order of arrival', async () => {
  let now = 0;
  const sleeps: number[] = [];
  const sleep = async (ms: number) => void sleeps.push(ms);
  const paced = new Upstream({ address: '192.0.2.1', port: 53 }, { rate: 100, inFlight: 1_000 }, () => now, sleep);
  for (let index = 0; index < 50; index++) await paced.turn(async () => {});
  // Nobody moved the clock: the last of 50 waits for its place, half a second on less what may leave at once.
  assert.ok(Math.abs((sleeps.at(-1) ?? 0) - 480) < 1);
  assert.deepEqual(
    sleeps,
    [...sleeps].sort((a, b) => a - b),
  );
  now = 10_000;
  const slept = sleeps.length;
  await paced.turn(async () => {});
  assert.equal(sleeps.length, slept);

  const narrow = new Upstream(
    { address: '192.0.2.1', port: 53 },
    { rate: Number.POSITIVE_INFINITY, inFlight: 3 },
    () => 0,
    sleep,
  );
  let running = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      narrow
        .turn(async () => {
          order.push(index);
          most = Math.max(most, ++running);
          await new Promise((done) => setImmediate(done));
          running--;
          if (index % 4 === 0) throw new Error('one of many');
        })
        .catch(() => {}),
    ),
  );
  assert.equal(most, 3);
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, index) => index),
  );
});

test('names that no server could be asked for are skipped, and so is everything without a resolver', async (t) => {
  const server = await lyingServer(t, truth);
  const { ask } = client(t, [server]);
  for (const name of ['', 'a..example', `${'a'.repeat(64)}.example`, `${'abcdefgh.'.repeat(28)}ab`, '.']) {
    assertUnknown(await ask(name, 'A'), 'skipped');
  }
  assert.equal(server.heard.length, 0);
  assert.equal((await ask(`${'abcdefgh.'.repeat(28)}a`, 'A')).status, 'malformed', 'as long as a name may be');
});

test('a client that is closed ends what waits', async (t) => {
  const server = await lyingServer(t, () => []);
  const { ask, close } = client(t, [server], { firstWait: 100_000 });
  const waiting = ask(NAME, 'A');
  while (server.heard.length === 0) await new Promise((done) => setTimeout(done, 1));
  close();
  assertUnknown(await waiting, 'unreachable');
});

test('any response gives an answer with a status', async (t) => {
  let message: Uint8Array = new Uint8Array();
  const server = await lyingServer(t, ({ bytes }) => {
    // The number is right, so that all of it is read.
    const reply = Buffer.from(message);
    if (reply.length > 2) bytes.copy(reply, 0, 0, 2);
    return [reply];
  });
  const { ask } = client(t, [server], { tries: 1, firstWait: 20 });
  const whole = encode({
    type: 'response',
    questions: [{ name: NAME, type: 'A' }],
    answers: [A('192.0.2.1'), A('192.0.2.2')],
  });
  assert.equal(decode(whole).answers?.length, 2);
  const bend = fc.record({ at: fc.nat(whole.length - 1), to: fc.nat(255) });
  const bent = fc.array(bend, { maxLength: 3 }).map((bends) => {
    const bytes = Buffer.from(whole);
    for (const { at, to } of bends) bytes[at] = to;
    return bytes as Uint8Array;
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(bent, fc.uint8Array({ maxLength: 100 })), async (bytes) => {
      message = bytes;
      const { status, values } = await ask(NAME, 'A');
      assert.equal(status === 'ok', values.length > 0);
    }),
    { numRuns: 150 },
  );
});

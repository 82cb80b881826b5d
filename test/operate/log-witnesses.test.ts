import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { nodeCrypto, readPolicy } from '../../src/proof/log/node-crypto.ts';
import { verifyCheckpoint } from '../../src/proof/log/verify.ts';
import { MINUTE, SECOND } from '../../src/proof/time.ts';
import type { AppContext } from '../../src/server/context.ts';
import { type CoveredLeaves, checkpointWithLateLines } from '../../src/signing/log/cosigned-head.ts';
import { logWitnesses } from '../../src/signing/log/log-witnesses.ts';
import { witnessClient } from '../../src/signing/log/witness-client.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ed25519Witness, MemoryLog, mldsa44Witness } from '../support/log.ts';
import { LogHeads } from '../support/log-heads.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { send, type WitnessServer, witnessServer } from '../support/witness-server.ts';

/** A little after the time that the test's heads and witnesses sign. */
const NOW = 1_780_000_200 * SECOND;

/** A log in a real database, whose leaves and heads a test adds, and what its witnesses are asked. */
class Stand {
  readonly clock = { now: NOW };
  readonly app: AppContext;
  readonly heads: LogHeads;
  readonly covered: CoveredLeaves[] = [];
  readonly logged: string[] = [];
  #leaves = 0;

  constructor(t: TestContext) {
    this.app = appContextIn(t, tempFolder(t), this.clock);
    this.heads = new LogHeads(this.tables, 'desk');
  }

  get tables() {
    return this.app.store.database.log;
  }

  /** Appends leaves and signs a head over them. */
  grow(leaves = 1) {
    return this.app.store.database.transact(() => {
      for (let n = 0; n < leaves; n++) this.tables.append('desk', `entry ${this.#leaves++}`);
      return this.heads.sign();
    });
  }

  /** Asks the witnesses of a policy, with a deadline in ms that no loaded machine comes near. */
  witnesses(text: string, deadline = 60_000) {
    const policy = readPolicy(text);
    const write = (line: string) => {
      const { msg, fault, fence } = JSON.parse(line);
      this.logged.push(`${msg}: ${fault ?? fence ?? ''}`);
    };
    const witnesses = logWitnesses(
      {
        store: this.app.store,
        now: () => this.clock.now,
        submit: witnessClient('Broadsheet/test', { deadline }),
        covered: (leaves) => void this.covered.push(leaves),
        logger: pino({ level: 'info' }, { write }),
      },
      { log: 'desk', origin: this.heads.origin },
    );
    return { ...witnesses, ask: () => witnesses.ask(policy), check: () => witnesses.check(policy) };
  }

  /** Asks once, a second after the last time, and waits for the answers. */
  async round(witnesses: ReturnType<Stand['witnesses']>): Promise<void> {
    this.clock.now += SECOND;
    witnesses.ask();
    await witnesses.settled();
  }

  state(vkey: string) {
    return this.tables.witness('desk', this.heads.origin, vkey);
  }

  /** The newest cosigned head: its size and text. */
  cosigned() {
    return this.tables.newestCosigned('desk', this.heads.origin);
  }
}

const line = (name: string, { vkey, url }: { vkey: string; url?: string }) => `witness ${name} ${vkey} ${url ?? ''}\n`;

/** The policy of one witness that must sign. */
const needs = (witness: WitnessServer) => `${line('w1', witness)}quorum w1\n`;

test('a witness signs each head, from where it was, and the cosigned checkpoint verifies', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  await stand.round(witnesses);
  assert.equal(witness.asked.length, 0, 'without a head there is nothing to sign');
  for (const [leaves, size] of [
    [1, 1],
    [300, 301],
    [1, 302],
  ]) {
    stand.grow(leaves);
    await stand.round(witnesses);
    const head = stand.cosigned();
    assert.equal(head?.size, size);
    const policy = readPolicy(`${stand.heads.policyText.split('\n')[0]}\n${needs(witness)}`);
    const verified = await verifyCheckpoint(head?.cosigned ?? '', policy, nodeCrypto);
    assert.deepEqual(
      verified.cosigners.map(({ time }) => time),
      [witness.time],
    );
  }
  assert.deepEqual(
    witness.asked.map((body) => body.slice(0, body.indexOf('\n'))),
    ['old 0', 'old 1', 'old 301'],
  );
  assert.deepEqual(stand.covered, [
    { start: 0, end: 1 },
    { start: 1, end: 301 },
    { start: 301, end: 302 },
  ]);
  await stand.round(witnesses);
  assert.equal(witness.asked.length, 3, 'a head that is signed is not submitted again');
  const { fault, failures, cosigned_size, cosigned_at, seen_size } = stand.state(witness.vkey);
  assert.deepEqual([fault, failures, cosigned_size, seen_size], [null, 0, 302, 302]);
  assert.equal(cosigned_at, stand.clock.now - SECOND);
  assert.deepEqual(stand.logged, [], 'what goes well is not logged');
});

test('a witness with another size is answered immediately with a proof from there', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const first = stand.grow(20);
  stand.grow(100);
  // As after a crash between its answer and our commit: it has seen what we do not know of.
  assert.equal(witness.reply(`old 0\n\n${first.checkpoint}`).status, 200);
  await stand.round(stand.witnesses(needs(witness)));
  assert.deepEqual(
    witness.asked.map((body) => body.slice(0, body.indexOf('\n'))),
    ['old 0', 'old 20'],
  );
  assert.equal(stand.cosigned()?.size, 120);
  assert.deepEqual(stand.logged, []);
});

test('a response that a crash kept from the database is requested again', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const head = stand.grow(20);
  assert.equal(witness.reply(`old 0\n\n${head.checkpoint}`).status, 200);
  await stand.round(stand.witnesses(needs(witness)));
  assert.equal(stand.cosigned()?.size, 20);
});

const LIES: [claim: string, lie: WitnessServer['answer'], fault: RegExp][] = [
  ['nonsense', (_reply, to) => to.end('hello'), /does not consist of signature lines: "hello"/],
  ['nothing with 200', (_reply, to) => to.end(), /does not consist of signature lines: ""/],
  ['10 MB', (_reply, to) => to.end(Buffer.alloc(10 << 20, 'x')), /more than 65536 bytes/],
  ['nothing', () => {}, /did not answer within 2 s/],
  ['a reset', (_reply, to) => void to.socket?.resetAndDestroy(), /closed the connection without an answer/],
  ['a redirect', (_reply, to) => to.writeHead(302, { Location: '/' }).end(), /302, a redirect/],
  ['an error', (_reply, to) => to.writeHead(503).end('later'), /answered 503: "later"/],
  [
    'that it does not know the log',
    (_reply, to) => to.writeHead(404).end(),
    /does not follow this log; give its operator/,
  ],
];
for (const [claim, lie, fault] of LIES) {
  test(`a witness that answers ${claim}: one line, no cosignature, and a retry later`, async (t) => {
    const [stand, witness] = [new Stand(t), await witnessServer(t)];
    const witnesses = stand.witnesses(needs(witness), claim === 'nothing' ? 2_000 : undefined);
    witness.answer = lie;
    stand.grow();
    await stand.round(witnesses);
    assert.match(stand.state(witness.vkey).fault ?? '', fault);
    assert.equal(stand.cosigned(), null);
    stand.clock.now += MINUTE;
    await stand.round(witnesses);
    assert.equal(stand.state(witness.vkey).failures, 2);
    assert.equal(stand.logged.length, 1, stand.logged.join('\n'));
    assert.match(stand.logged[0] ?? '', fault);
    assert.equal(stand.tables.fence('desk'), null);
    assert.deepEqual(stand.tables.cosignatures('desk', stand.heads.origin, 1), []);
    // It recovers.
    witness.answer = send;
    stand.clock.now += MINUTE;
    await stand.round(witnesses);
    assert.equal(stand.cosigned()?.size, 1);
    assert.equal(stand.state(witness.vkey).fault, null);
    assert.match(stand.logged[1] ?? '', /^a witness signs again/);
  });
}

/** Signatures that are none. */
const FORGERIES: [claim: string, body: (checkpoint: string, time: number) => string, fault: RegExp][] = [
  [
    'of another witness',
    (checkpoint, time) => ed25519Witness('witness.example/w2', 9).cosign(checkpoint, time),
    /not signed by "witness.example\/w1" but by "witness.example\/w2"/,
  ],
  [
    'by another key of its name',
    (checkpoint, time) => ed25519Witness('witness.example/w1', 9).cosign(checkpoint, time),
    /not signed by "witness.example\/w1"/,
  ],
  [
    'of a time in the future',
    (checkpoint, time) => ed25519Witness('witness.example/w1', 5).cosign(checkpoint, time + 1_000),
    /is of 2026-05-28T20:45:00.000Z, and it is 2026-05-28T20:30/,
  ],
  [
    'of another checkpoint',
    (checkpoint, time) => {
      const other = checkpoint.replace(/\n1\n/, '\n2\n');
      return checkpoint + ed25519Witness('witness.example/w1', 5).cosign(other, time).slice(other.length);
    },
    /wrong signature by "witness.example\/w1"/,
  ],
];
for (const [claim, forge, fault] of FORGERIES) {
  test(`a signature ${claim} does not count`, async (t) => {
    const [stand, witness] = [new Stand(t), await witnessServer(t)];
    const { checkpoint } = stand.grow();
    witness.answer = (_reply, response) => {
      const body = forge(checkpoint, witness.time).slice(checkpoint.length);
      send({ status: 200, body }, response);
    };
    await stand.round(stand.witnesses(needs(witness)));
    assert.match(stand.state(witness.vkey).fault ?? '', fault);
    assert.equal(stand.cosigned(), null);
    assert.deepEqual(stand.tables.cosignatures('desk', stand.heads.origin, 1), []);
  });
}

test('a witness that says it has seen less than before is one line, and fences nothing', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  stand.grow(50);
  await stand.round(witnesses);
  witness.seen.clear();
  stand.grow();
  await stand.round(witnesses);
  assert.match(stand.state(witness.vkey).fault ?? '', /has seen 0 leaves, after it had seen 50$/);
  assert.equal(stand.cosigned()?.size, 50);
  assert.equal(stand.tables.fence('desk'), null);
});

test('a witness that has seen more leaves than exist fences this copy, and no witness is asked again', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  stand.grow(50);
  await stand.round(witnesses);
  witness.answer = (_reply, response) => send({ status: 409, type: 'text/x.tlog.size', body: '1340\n' }, response);
  stand.grow();
  await stand.round(witnesses);
  const fence =
    'witness "w1": the witness has seen a tree of 1340 leaves, and this log has signed 51; restore the newest copy of the database, or move the log\'s key file away and set LOG_ORIGIN to a new name';
  assert.equal(stand.tables.fence('desk'), fence);
  assert.equal(stand.tables.fence('records'), null, 'the other log has nothing to do with it');
  assert.deepEqual(stand.logged, [`a witness did not sign; it is asked again: ${fence.slice(14, fence.indexOf(';'))}`]);
  const { length } = witness.asked;
  stand.clock.now += 60 * MINUTE;
  await stand.round(witnesses);
  assert.equal(witness.asked.length, length);
  // The check of a start asks all the same. It finds the same, no answer, or that the witness agrees again.
  assert.equal(await witnesses.check(), fence);
  witness.answer = (_reply, response) => response.destroy();
  assert.equal(await witnesses.check(), fence, 'silence takes nothing back');
  assert.equal(await stand.witnesses('quorum none\n').check(), null, 'a witness that has left the policy has no say');
  witness.answer = send;
  assert.equal(await witnesses.check(), null);
});

test('another tree of the same size is distinguished from an error page', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  stand.grow(5);
  await stand.round(witnesses);
  witness.answer = (_reply, response) => send({ status: 409, type: 'text/html', body: '<h1>DNS error</h1>' }, response);
  assert.equal(await witnesses.check(), null);
  assert.match(stand.state(witness.vkey).fault ?? '', /409 without a size of type text\/x.tlog.size: "<h1>DNS error/);
  for (const reply of [
    { status: 409, body: '' },
    { status: 409, type: 'text/x.tlog.size', body: '5\n' },
    { status: 422, body: '' },
  ]) {
    witness.answer = (_reply, response) => send(reply, response);
    assert.match(
      (await witnesses.check()) ?? '',
      /(?:another tree of 5 leaves|not consistent).*; another copy of this log signs/,
    );
  }
});

test('a witness that has seen a head which this copy never signed fences it at any size', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  stand.grow(5);
  // An old copy that was filed into before its server started.
  stand.app.store.database.transact(() => {
    for (const n of [5, 6, 7]) stand.tables.append('desk', `another entry ${n}`);
  });
  const newest = new MemoryLog(stand.heads.origin);
  newest.append([...stand.tables.entries('desk', 0, 5), 'entry 5', 'entry 6']);
  witness.reply(`old 0\n\n${newest.checkpoint()}`);
  assert.match((await witnesses.check()) ?? '', /has seen a tree of 7 leaves, and this log has signed 5; restore/);
  assert.match(stand.tables.fence('desk') ?? '', /has seen a tree of 7 leaves/);
  await stand.round(witnesses);
  assert.equal(stand.cosigned(), null);
});

test('of two copies that go on, the second one is refused and fenced, also at the same size', async (t) => {
  for (const more of [1, 5]) {
    const [one, copy, witness] = [new Stand(t), new Stand(t), await witnessServer(t)];
    const [first, second] = [one.witnesses(needs(witness)), copy.witnesses(needs(witness))];
    for (const stand of [one, copy]) stand.grow(20);
    await one.round(first);
    await copy.round(second);
    assert.equal(copy.cosigned()?.size, 20, 'two equal copies cannot be told apart');
    one.app.store.database.transact(() => one.tables.append('desk', 'of the one'));
    one.grow(1);
    copy.app.store.database.transact(() => copy.tables.append('desk', 'of the copy'));
    copy.grow(more);
    await one.round(first);
    await copy.round(second);
    assert.equal(one.cosigned()?.size, 22);
    assert.equal(one.tables.fence('desk'), null);
    assert.equal(copy.cosigned()?.size, 20);
    assert.match(
      copy.tables.fence('desk') ?? '',
      /^witness "w1": .* (?:not consistent|another tree).*; another copy of this log signs too: stop one of them, and restore/,
    );
  }
});

test('the back-off doubles from a second to an hour', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness));
  witness.answer = (_reply, response) => response.writeHead(500).end();
  stand.grow();
  for (let failures = 1; failures <= 15; failures++) {
    await stand.round(witnesses);
    const { next_at, ...state } = stand.state(witness.vkey);
    assert.equal(state.failures, failures);
    assert.equal(state.fault_at, NOW + SECOND, 'since the first failure');
    const wait = Math.min(60 * MINUTE, SECOND * 2 ** (failures - 1));
    assert.ok(next_at - stand.clock.now <= wait && next_at - stand.clock.now >= 0.75 * wait - 1, `${next_at}`);
    stand.clock.now = next_at - SECOND - 1;
    await stand.round(witnesses);
    assert.equal(witness.asked.length, failures, 'not before its time');
    stand.clock.now = next_at - SECOND;
  }
  // A clock that is set back does not make it wait for the old time.
  stand.clock.now -= 300 * MINUTE;
  await stand.round(witnesses);
  assert.equal(witness.asked.length, 16);
});

test('witnesses are asked in parallel, one request each, and a slow one delays no other', async (t) => {
  const [stand, slow, quick] = [new Stand(t), await witnessServer(t), await witnessServer(t, 'witness.example/w2', 6)];
  const policy = `${line('slow', slow)}${line('quick', quick)}group g any slow quick\nquorum g\n`;
  const witnesses = stand.witnesses(policy, 60_000);
  const held: (() => void)[] = [];
  slow.answer = (reply, response) => void held.push(() => send(reply, response));
  for (let head = 1; head <= 4; head++) {
    stand.grow();
    stand.clock.now += SECOND;
    witnesses.ask();
    while (stand.cosigned()?.size !== head) await new Promise((done) => setTimeout(done, 5));
  }
  assert.equal(quick.asked.length, 4);
  assert.equal(slow.asked.length, 1);
  slow.answer = send;
  for (const answer of held) answer();
  await witnesses.settled();
  const first = stand.tables.firstCosignedOver('desk', 0);
  assert.equal(first?.cosigned?.match(/^— witness/gm)?.length, 1, 'what was given out is not made anew');
  assert.equal(stand.tables.cosignatures('desk', stand.heads.origin, 1).length, 2);
  await stand.round(witnesses);
  assert.deepEqual([slow.asked.length, slow.atOnce, quick.atOnce], [2, 1, 1]);
  assert.equal(stand.state(slow.vkey).cosigned_size, 4);
});

test('two slow witnesses sign the same heads while the log grows', { skip: ONLY_WIDE }, async (t) => {
  const stand = new Stand(t);
  const servers = [await witnessServer(t), await witnessServer(t, 'witness.example/w2', 6)] as const;
  const [a, b] = servers;
  const witnesses = stand.witnesses(`${line('a', a)}${line('b', b)}group both all a b\nquorum both\n`, 60_000);
  // One answers each third round, the other each fifth.
  const held = new Map<WitnessServer, () => void>();
  for (const server of servers) {
    server.answer = (reply, response) => void held.set(server, () => send(reply, response));
  }
  const sizes = new Set<number>();
  for (let round = 1; round <= 30; round++) {
    stand.grow();
    stand.clock.now += SECOND;
    witnesses.ask();
    for (const server of [round % 3 === 0 ? [a] : [], round % 5 === 0 ? [b] : []].flat()) {
      held.get(server)?.();
      held.delete(server);
    }
    await new Promise((done) => setTimeout(done, 20));
    sizes.add(stand.cosigned()?.size ?? 0);
  }
  assert.ok(sizes.size >= 5, `${[...sizes]}`);
  for (const server of servers) {
    server.answer = send;
    held.get(server)?.();
  }
  await witnesses.settled();
});

test('a quorum of groups with one witness down is met by the others, and the one recovers', async (t) => {
  const stand = new Stand(t);
  const [a, b, c] = [
    await witnessServer(t, 'witness.example/a', 5),
    await witnessServer(t, 'witness.example/b', 6),
    await witnessServer(t, 'witness.example/c', 7),
  ];
  const groups = 'group ab 1 a b\ngroup all-of-it all ab c\nquorum all-of-it\n';
  const witnesses = stand.witnesses(`${line('a', a)}${line('b', b)}${line('c', c)}${groups}`);
  a.answer = (_reply, response) => response.destroy();
  stand.grow(3);
  await stand.round(witnesses);
  const { cosigned = '' } = stand.cosigned() ?? {};
  assert.deepEqual(cosigned?.match(/^— witness\S+/gm), ['— witness.example/b', '— witness.example/c']);
  assert.notEqual(stand.state(a.vkey).fault, null);
  c.answer = (_reply, response) => response.destroy();
  stand.clock.now += MINUTE;
  stand.grow();
  await stand.round(witnesses);
  assert.equal(stand.cosigned()?.size, 3, 'without c there is no quorum');
  for (const server of [a, c]) server.answer = send;
  stand.clock.now += MINUTE;
  await stand.round(witnesses);
  assert.equal(stand.cosigned()?.size, 4);
  assert.deepEqual(stand.cosigned()?.cosigned?.match(/^— witness\S+/gm)?.length, 3);
});

test('a server that signs with two keys gets one request', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const quantum = mldsa44Witness('witness.example/quantum', 8);
  witness.answer = ({ body }, response) => {
    const checkpoint = stand.tables.newestHead('desk', stand.heads.origin)?.checkpoint ?? '';
    const more = quantum.cosign(checkpoint, witness.time).slice(checkpoint.length);
    send({ status: 200, body: body + more }, response);
  };
  const both = `${line('q', { vkey: quantum.vkey, url: witness.url })}${line('w', witness)}group g all q w\nquorum g\n`;
  const witnesses = stand.witnesses(both);
  stand.grow(2);
  await stand.round(witnesses);
  assert.equal(witness.asked.length, 1);
  assert.deepEqual(stand.cosigned()?.cosigned?.match(/^— witness\S+/gm), [
    '— witness.example/quantum',
    '— witness.example/w1',
  ]);
  // With one of them missing, the other one still counts.
  witness.answer = send;
  stand.grow();
  await stand.round(witnesses);
  assert.match(stand.state(quantum.vkey).fault ?? '', /not signed by "witness.example\/quantum"/);
  assert.equal(stand.state(witness.vkey).cosigned_size, 3);
});

test('an empty quorum is met without a request; witnesses are asked all the same', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const head = stand.grow();
  const witnesses = stand.witnesses(`${line('w1', witness)}quorum none\n`);
  witnesses.ask();
  assert.equal(stand.cosigned()?.cosigned, head.checkpoint);
  await witnesses.settled();
  assert.equal(stand.state(witness.vkey).cosigned_size, 1);
});

test('another policy decides over the heads that wait, and over no head that is older than a cosigned one', async (t) => {
  const stand = new Stand(t);
  const [a, b] = [await witnessServer(t, 'witness.example/a', 5), await witnessServer(t, 'witness.example/b', 6)];
  b.answer = (_reply, response) => response.destroy();
  const names = `${line('a', a)}${line('b', b)}`;
  const strict = stand.witnesses(`${names}group g all a b\nquorum g\n`);
  stand.grow(10);
  await stand.round(strict);
  stand.grow(10);
  await stand.round(strict);
  assert.equal(stand.cosigned(), null);
  // b is no longer needed, and a has signed already.
  const { length } = a.asked;
  const lax = stand.witnesses(`${names}quorum a\n`);
  lax.ask();
  assert.equal(stand.cosigned()?.size, 20);
  await lax.settled();
  assert.equal(a.asked.length, length);
  assert.equal(stand.tables.firstCosignedOver('desk', 0)?.size, 20, 'the head of 10 stays as it is');
  // a leaves the policy: its line leaves the new heads, not the old ones.
  b.answer = send;
  stand.clock.now += MINUTE;
  stand.grow();
  await stand.round(stand.witnesses(`${line('b', b)}quorum b\n`));
  assert.deepEqual(stand.cosigned()?.cosigned?.match(/^— witness\S+/gm), ['— witness.example/b']);
  assert.match(stand.tables.firstCosignedOver('desk', 0)?.cosigned ?? '', /^— witness\.example\/a /m);
  // A witness that is new to the policy is shown the whole log.
  const c = await witnessServer(t, 'witness.example/c', 7);
  await stand.round(stand.witnesses(`${line('b', b)}${line('c', c)}group g all b c\nquorum g\n`));
  stand.grow();
  await stand.round(stand.witnesses(`${line('b', b)}${line('c', c)}group g all b c\nquorum g\n`));
  assert.equal(stand.cosigned()?.cosigned?.match(/^— witness/gm)?.length, 2);
});

test('the published checkpoint includes later cosignatures, and meets another policy without a new leaf', async (t) => {
  const stand = new Stand(t);
  const [a, b] = [await witnessServer(t, 'witness.example/a', 5), await witnessServer(t, 'witness.example/b', 6)];
  stand.grow(10);
  await stand.round(stand.witnesses(`${line('a', a)}quorum a\n`));
  const before = stand.cosigned();
  const policy = `${line('b', b)}quorum b\n`;
  await stand.round(stand.witnesses(policy));
  const head = stand.cosigned();
  assert.deepEqual(head, before, 'proofs keep their signatures');
  const witnessed = { log: 'desk', origin: stand.heads.origin, policy: readPolicy(policy) } as const;
  const text = checkpointWithLateLines(stand.tables, witnessed, head ?? assert.fail());
  for (const later of [policy, `${line('a', a)}${line('b', b)}group g all a b\nquorum g\n`]) {
    const read = readPolicy(`${stand.heads.policyText.split('\n')[0]}\n${later}`);
    assert.equal((await verifyCheckpoint(text, read, nodeCrypto)).cosigners.length, read.witnesses.length);
  }
});

test('appending never waits for a witness', async (t) => {
  const [stand, witness] = [new Stand(t), await witnessServer(t)];
  const witnesses = stand.witnesses(needs(witness), 60_000);
  let answer: () => void = () => {};
  witness.answer = (reply, response) => {
    answer = () => send(reply, response);
  };
  stand.grow();
  witnesses.ask();
  while (witness.asked.length === 0) await new Promise((done) => setTimeout(done, 5));
  for (let n = 0; n < 100; n++) stand.app.store.database.transact(() => stand.tables.append('desk', `meanwhile ${n}`));
  assert.equal(stand.tables.size('desk'), 101);
  answer();
  await witnesses.settled();
  assert.equal(stand.cosigned()?.size, 1);
});

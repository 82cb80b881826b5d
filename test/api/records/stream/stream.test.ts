import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { ChangeFeed } from '../../../../api/records/stream/feed.ts';
import { listenRecords } from '../../../../api/server.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { gatheredQueue } from '../../../../src/records/jobs/gathered-queue.ts';
import { localQueue } from '../../../../src/records/jobs/local-queue.ts';
import { openAppContext } from '../../../../src/server/context.ts';
import { listenTo } from '../../../support/events.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import * as fc from '../../../support/properties.ts';
import { type RecordsStand, recordProbes, recordsStand } from '../../../support/records-fixture.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const MINUTE = 60_000;

/** For what is not to happen. */
const failed = (error?: unknown): never => assert.fail(String(error));

/** Changes the address of a host; each call but the first is one change. */
function changer({ clock }: RecordsStand, hostname = 'example.org') {
  let n = 0;
  return () => probe(hostname, clock.now + n++ * MINUTE, { A: [`10.${n % 250}.2.1`] });
}

const idsOf = (events: { id?: string }[]) => events.map(({ id }) => Number(id));

test('a stream sends past changes from a number on, then live ones, also from another process', async (t) => {
  const stand = await recordsStand(t);
  const { url, enter, keyOf, app, clock } = stand;
  const next = changer(stand);
  enter(next(), next(), next());
  const key = { 'x-service-key': keyOf('service') };
  const reader = await listenTo(url, '/v1/stream?since_seq=0', key);
  assert.equal(reader.status, 200);
  assert.equal(reader.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(reader.headers['cache-control'], 'private, no-store');
  assert.deepEqual(idsOf(await reader.atLeast(2)), [1, 2]);
  assert.match(reader.text(), /^retry: \d+\n\n/);
  enter(next());
  await reader.atLeast(3);
  // As another process enters changes: by a database handle of its own.
  const elsewhere = openAppContext(app.settings, () => clock.now);
  try {
    recordProbes(elsewhere, clock, [next(), next()]);
  } finally {
    elsewhere.close();
  }
  const events = await reader.atLeast(5);
  assert.deepEqual(idsOf(events), [1, 2, 3, 4, 5]);
  const { items } = JSON.parse((await ask(url, '/v1/changes?order=oldest', key)).text);
  assert.deepEqual(
    events.map(({ data }) => JSON.parse(data)),
    items,
    'an event is the row of the change wire',
  );
  reader.hangUp();
});

test('beside two scanners that share commits, events come in the order of their numbers, each once', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { url, keyOf, app, clock } = await recordsStand(t);
  const { records } = app.store;
  const elsewhere = openAppContext(app.settings, () => clock.now);
  t.after(() => elsewhere.close());
  elsewhere.signer.open();
  const names = Array.from({ length: 150 }, (_, n) => parseHostname(`h${n}.zone${n % 30}.test`));
  records.watch(names, clock.now);
  const scan = async (context: typeof app, round: number): Promise<void> => {
    const queue = gatheredQueue(localQueue(context, `test ${context === app}`));
    for (let lease = await queue.lease(40); lease !== null; lease = await queue.lease(40)) {
      const { lease: id } = lease;
      const outcomes = lease.hostnames.map((name, n) =>
        // What cannot be recorded is rolled back alone, with its numbers.
        queue.submit(id, [
          probe(name, n === 7 ? Number.NaN : clock.now, { A: [`10.${round}.2.1`], TXT: [`${round}`] }),
        ]),
      );
      await Promise.all(outcomes);
      await queue.release(id);
    }
  };
  const key = { 'x-service-key': keyOf('service') };
  const readers = [await listenTo(url, '/v1/stream?since_seq=0', key)];
  for (let round = 0; round < 3; round++) {
    clock.now += 2 * 86_400_000;
    const late = new Promise((resolve) => setTimeout(resolve, 20)).then(async () =>
      readers.push(await listenTo(url, '/v1/stream?since_seq=0', key)),
    );
    await Promise.all([scan(app, round), scan(elsewhere, round), late]);
  }
  const newest = records.newestDelta();
  assert(newest > 400, `${newest} changes`);
  for (const reader of readers) {
    const ids = idsOf(await reader.atLeast(newest));
    assert.deepEqual(
      ids,
      Array.from({ length: newest }, (_, n) => n + 1),
    );
    reader.hangUp();
  }
});

test('a client that reconnects misses nothing and gets nothing twice', async (t) => {
  const stand = await recordsStand(t);
  const { url, enter, keyOf } = stand;
  const next = changer(stand);
  enter(next());
  const key = { 'x-service-key': keyOf('service') };
  const read: number[] = [];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }), async (before, during) => {
      for (let n = 0; n < before; n++) enter(next());
      const last = read.at(-1);
      const from: Record<string, string> = last === undefined ? {} : { 'last-event-id': String(last) };
      const reader = await listenTo(url, '/v1/stream?since_seq=0', { ...key, ...from });
      for (let n = 0; n < during; n++) enter(next());
      // Hangs up somewhere among what is there for him.
      const events = await reader.atLeast(Math.min(1, before + during));
      reader.hangUp();
      read.push(...idsOf(events));
      assert.deepEqual(
        read,
        read.map((_, index) => index + 1),
      );
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

test('a stream of one domain or type contains nothing else, and an opt-out ends it', async (t) => {
  const stand = await recordsStand(t);
  const { url, enter, keyOf, clock, app } = stand;
  const [one, two] = [changer(stand, 'one.example'), changer(stand, 'two.example')];
  enter(one(), two());
  const key = { 'x-service-key': keyOf('service') };
  const [all, ofOne, ofMx] = await Promise.all(
    ['', '&domain=ONE.example', '&type=mx'].map((more) => listenTo(url, `/v1/stream?since_seq=0${more}`, key)),
  );
  assert.ok(all && ofOne && ofMx);
  enter(one(), two(), probe('two.example', clock.now + MINUTE, { A: ['10.2.2.1'], MX: ['10 mail.example'] }));
  assert.deepEqual(idsOf(await all.atLeast(3)), [1, 2, 3]);
  assert.deepEqual(idsOf(await ofMx.atLeast(1)), [3]);
  const { records } = app.store;
  const host = records.find('one.example');
  assert.ok(host);
  records.optOut(host, 'asked for', 'test', clock.now);
  enter(probe('two.example', clock.now + MINUTE, { A: ['192.0.2.99'], MX: ['10 mail.example'] }));
  await all.atLeast(4);
  assert.deepEqual(idsOf(ofOne.events()), [1]);
  const again = await listenTo(url, '/v1/stream?since_seq=0', key);
  assert.deepEqual(idsOf(await again.atLeast(3)), [2, 3, 4]);
  assert.equal((await ask(url, '/v1/stream?domain=one.example', key)).status, 404);
  for (const reader of [all, ofOne, ofMx, again]) reader.hangUp();
});

test('a slow reader gets everything at its own pace; one that does not read is dropped', async (t) => {
  const { enter, app, clock } = await recordsStand(t);
  const failed: unknown[] = [];
  let dropped = 0;
  const feed = new ChangeFeed(app.store.records, (error) => failed.push(error), { poll: 5, beat: 40, beats: 1_000 });
  t.after(() => feed.close());
  const open = () => feed.listen({}, 0, () => dropped++).body();
  const texts = (n: number) => [`${n} ${'x'.repeat(100_000)}`];
  enter(probe('example.org', clock.now, { TXT: texts(0) }), probe('example.org', clock.now, { TXT: texts(1) }));

  const slow = open().getReader();
  const read = async (): Promise<string> => Buffer.from((await slow.read()).value ?? new Uint8Array()).toString();
  assert.match((await read()) + (await read()), /^retry: \d+\n\nid: 1\n/);
  // He waits for the present, and far more comes at once than is kept for him.
  let heard = read();
  for (let n = 2; n < 10; n++) enter(probe('example.org', clock.now + MINUTE, { TXT: texts(n) }));
  const ids: number[] = [];
  while (ids.length < 8) {
    ids.push(...[...(await heard).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
    heard = read();
  }
  assert.deepEqual(ids, [2, 3, 4, 5, 6, 7, 8, 9]);
  assert.match(await heard, /^:\n\n/, 'then there is nothing but the heartbeat');
  assert.equal(dropped, 0);

  // From here on he reads nothing; nobody else is dropped with him.
  const reader = open().pipeTo(new WritableStream());
  await until(() => (dropped === 1 ? true : null));
  assert.equal(feed.listeners, 1);
  assert.match(await read(), /^event: end\ndata: \{"reason":"too_slow"/);
  assert.equal((await slow.read()).done, true);
  feed.close();
  await reader;
  assert.deepEqual(failed, []);
});

test('the database is read once for all listeners, and a change is made into bytes once', async (t) => {
  const { enter, app, clock } = await recordsStand(t);
  const { records } = app.store;
  let reads = 0;
  const counted: Pick<typeof records, 'deltas' | 'newestDelta'> = {
    newestDelta: records.newestDelta,
    deltas: (...query) => {
      reads++;
      return records.deltas(...query);
    },
  };
  const feed = new ChangeFeed(counted, failed, { poll: 5, beat: 60_000, beats: 100 });
  t.after(() => feed.close());
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const readers = Array.from({ length: 300 }, () => feed.listen({}, 0, failed).body().getReader());
  await Promise.all(readers.map((reader) => reader.read()));
  const heard = readers.map((reader) => reader.read());
  assert.equal(feed.listeners, 300);
  const before = reads;
  enter(probe('example.org', clock.now + MINUTE, { A: ['192.0.2.2'] }));
  const [first, ...others] = await Promise.all(heard);
  assert.match(Buffer.from(first?.value ?? []).toString(), /^id: 1\ndata: \{"seq":1,/);
  for (const { value } of others) assert.equal(value, first?.value, 'the very same bytes');
  assert.equal(reads - before, 1);
  for (const reader of readers) await reader.cancel();
  assert.equal(feed.listeners, 0);
});

test('a stream ends after its maximum time and can be reopened', async (t) => {
  const { app } = await recordsStand(t);
  const feed = new ChangeFeed(app.store.records, failed, { poll: 5, beat: 5, beats: 4 });
  let text = '';
  for await (const bytes of feed.listen({}, 0, failed).body()) text += Buffer.from(bytes).toString();
  assert.match(text, /^retry: 3000\n\n(?::\n\n){4}event: end\ndata: \{"reason":"time_is_up"/);
});

test('a stopping server ends its streams immediately with an event', async (t) => {
  const { app, keyOf } = await recordsStand(t);
  const served = await listenRecords(app, pino({ level: 'silent' }));
  const reader = await listenTo(served.url, '/v1/stream', { 'x-service-key': keyOf('service') });
  await Promise.all([served.close(), reader.ended]);
  assert.equal(reader.response.complete, true, 'it was ended, not broken off');
  assert.match(reader.text(), /event: end\ndata: \{"reason":"stopping"/);
});

test('an invalid number is rejected; HEAD opens nothing', async (t) => {
  const { url, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('service') };
  for (const seq of ['x', '-1', '1.5', '1e3', '%20', '9'.repeat(16), '1&since_seq=2']) {
    const { status, text } = await ask(url, `/v1/stream?since_seq=${seq}`, key);
    assert.equal(status, 400, text);
    assert.equal(JSON.parse(text).field, 'since_seq');
  }
  const { status, text } = await ask(url, '/v1/stream', { ...key, 'last-event-id': 'x' });
  assert.equal(status, 400);
  assert.equal(JSON.parse(text).field, 'last-event-id');
  const head = await ask(url, '/v1/stream', key, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-type'], 'text/event-stream; charset=utf-8');
});

test('a number ahead of the newest change is refused before anything is charged or counted', async (t) => {
  const stand = await recordsStand(t);
  const { url, keyOf, enter, app } = stand;
  const next = changer(stand);
  enter(next(), next(), next());
  const key = { 'x-service-key': keyOf('account') };
  const cursor = (seq: number) => Buffer.from(JSON.stringify([seq])).toString('base64url');
  for (const [path, headers] of [
    ['/v1/stream', { 'last-event-id': '3' }],
    ['/v1/stream?since_seq=3', {}],
    ['/v1/stream?since_seq=1', { 'last-event-id': '999999999999999' }],
    ['/v1/stream?domain=example.org&type=MX', { 'last-event-id': '3' }],
    [`/v1/changes?order=oldest&cursor=${cursor(3)}`, {}],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const { status, text } = await ask(url, path, { ...key, ...headers }, method);
      assert.equal(status, 409, path);
      if (method === 'HEAD') continue;
      const { error, newest, message } = JSON.parse(text);
      assert.deepEqual([error, newest], ['ahead_of_stream', 2]);
      assert.match(message, /newest change is 2/);
    }
  }
  assert.equal(app.store.records.quotas.openStreams(holderOf(stand), app.clock.now(), MINUTE), 0);
  const { today } = JSON.parse((await ask(url, '/v1/usage', key)).text);
  assert.equal(today.units, 0, 'what was refused is not charged');
  // Equal to the newest, and what is older first, are as before.
  const reader = await listenTo(url, '/v1/stream', { ...key, 'last-event-id': '2' });
  assert.equal(reader.status, 200);
  enter(next());
  assert.deepEqual(idsOf(await reader.atLeast(1)), [3]);
  reader.hangUp();
  for (const query of [`order=oldest&cursor=${cursor(3)}`, `cursor=${cursor(9)}`]) {
    assert.equal((await ask(url, `/v1/changes?${query}`, key)).status, 200, query);
  }
});

test('a standby may lag, so it asks clients to retry', async (t) => {
  const { url, keyOf, app } = await recordsStand(t);
  const signer = {
    ...app.signer,
    assertHeld() {
      throw new Error('another server signs');
    },
  };
  Object.assign(app, { signer });
  const key = { 'x-service-key': keyOf('service') };
  const { status, headers, text } = await ask(url, '/v1/stream', { ...key, 'last-event-id': '3' });
  assert.equal(status, 503, text);
  assert.match(String(headers['retry-after']), /^\d+$/);
});

test('an account has a limited number of open streams over all processes, and closing one makes room', async (t) => {
  const stand = await recordsStand(t);
  const { url, keyOf, app } = stand;
  const key = { 'x-service-key': keyOf('account') };
  const elsewhere = openAppContext(app.settings, app.clock.now);
  const served = await listenRecords(elsewhere, pino({ level: 'silent' }));
  t.after(async () => {
    await served.close();
    elsewhere.close();
  });
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, n) => listenTo(n % 2 === 0 ? url : served.url, '/v1/stream', key)),
  );
  const open = all.filter(({ status }) => status === 200);
  assert.equal(open.length, STREAMS);
  const refused = all.find(({ status }) => status !== 200);
  assert.equal(refused?.status, 429);
  assert.equal(refused.headers['retry-after'], '60');
  await refused?.ended;
  assert.match(
    refused?.text() ?? '',
    /"rate_limited".*this account has 10 streams open, which is the limit; close one/,
  );
  for (const reader of all) if (reader.status !== 200) reader.hangUp();
  const other = await listenTo(url, '/v1/stream', { 'x-service-key': keyOf('account', 'ben@example.org') });
  assert.equal(other.status, 200);
  open.pop()?.hangUp();
  await until(() =>
    app.store.records.quotas.openStreams(holderOf(stand), app.clock.now(), 60_000) < STREAMS ? true : null,
  );
  const again = await listenTo(url, '/v1/stream', key);
  assert.equal(again.status, 200);
  for (const reader of [...open, other, again]) reader.hangUp();
  const { today } = JSON.parse((await ask(url, '/v1/usage', key)).text);
  assert.equal(today.units, STREAMS + 1, 'what was refused is not charged');
});

/** The default of KEYED_STREAMS. */
const STREAMS = 10;

const holderOf = ({ app }: RecordsStand) => `account:${app.store.records.accounts.byEmail('ada@example.org')?.id}`;

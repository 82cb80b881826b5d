import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../src/shared/fault.ts';
import type { Bucket, PutOptions } from '../../src/shared/storage/bucket.ts';
import { SignerLease, type SignerLeaseOptions } from '../../src/signing/signer-lease.ts';
import { etagOf, World } from '../support/lease-world.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const LASTS = 30_000;

/** What object storage has under one key. */
interface StoredLease {
  text: string;
}

/** One object; a request and its response each take as long as `delay` says, and may fail after it was carried out. */
function bucketIn(world: World, object: StoredLease, delay: () => number): Bucket {
  const asked = async <T>(work: () => T): Promise<T> => {
    await world.sleep(delay());
    const result = work();
    const back = delay();
    await world.sleep(back);
    if (back % 7 === 0) throw new Fault('unavailable', 'the response was lost');
    return result;
  };
  return {
    name: 'a bucket',
    get: () =>
      asked(() => (object.text === '' ? null : { bytes: Buffer.from(object.text), etag: etagOf(object.text), age: 0 })),
    put: (_key: string, bytes: Uint8Array, { onlyIf }: PutOptions = {}) =>
      asked(() => {
        const wanted = onlyIf === 'absent' ? '' : (onlyIf?.etag ?? '');
        if (wanted !== etagOf(object.text)) return null;
        object.text = Buffer.from(bytes).toString();
        return etagOf(object.text);
      }),
  } as unknown as Bucket;
}

test('through delays, pauses and losses, no two servers sign different leaves at one index', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 1_000_000 }), { minLength: 200, maxLength: 200 }),
      fc.integer({ min: 0, max: 3 }),
      async (numbers, ships) => {
        const world = new World();
        const object = { text: '' };
        let at = 0;
        const random = (max: number): number => {
          const number = numbers[at++ % numbers.length] ?? 0;
          return (number * (1 + Math.floor(at / numbers.length))) % max;
        };
        // Most requests are quick; now and then a process is stopped for longer than its lease.
        const delay = () => (random(9) === 0 ? random(3 * LASTS) : random(400));
        const signed: number[][] = [];
        let shipped: number[] = [];
        let isOver = false;
        let leaf = 0;
        const current = new Map<number, SignerLease>();
        let mostHolders = 0;
        const server = async (n: number): Promise<void> => {
          while (!isOver) {
            let leaves = [...shipped];
            const lease = new SignerLease({
              bucket: bucketIn(world, object, delay),
              ...{ key: 'k', name: String(n), lasts: LASTS, waiting: () => {}, desk: () => null },
              requireContinued({ desk }) {
                if (desk === null || JSON.stringify(leaves.slice(0, desk.size)) === desk.root) return;
                throw new Fault('unavailable', 'an old copy');
              },
              // The clocks of two machines have nothing in common.
              clock: () => world.now + n * 1_000_003,
              uptime: () => world.now,
              renewed() {
                current.set(n, lease);
                mostHolders = Math.max(mostHolders, [...current.values()].filter((one) => one.isHeld()).length);
              },
              // Restores again while it waits.
              pause: async (ms, signal) => {
                await world.sleep(ms, signal);
                if (isOver) throw new Error('over');
                if (ms === LASTS / 20 && !lease.isHeld()) leaves = [...shipped];
              },
            });
            try {
              await lease.acquire();
              while (lease.isHeld()) {
                for (let more = random(4); more >= 0; more--) leaves.push(leaf++);
                const size = leaves.length;
                const root = JSON.stringify(leaves);
                const isKnown = await lease.announce('desk', { origin: 'a', size, root });
                await world.sleep(delay());
                if (isKnown) signed.push(leaves.slice(0, size));
                if (random(4) <= ships && isKnown) shipped = leaves.slice(0, size);
                await world.sleep(random(2_000));
              }
            } catch {
              await world.sleep(random(LASTS));
            }
          }
        };
        for (let n = 0; n < 3; n++) void server(n);
        await world.run(40 * LASTS);
        isOver = true;
        assert.ok(mostHolders <= 1, 'two hold the lease at once');
        signed.sort((a, b) => a.length - b.length);
        for (const [n, leaves] of signed.entries()) {
          const longer = signed[n + 1] ?? leaves;
          assert.deepEqual(longer.slice(0, leaves.length), leaves);
        }
      },
    ),
    { numRuns: 15 },
  ));

test('a server takes over when the holder is silent, and a released lease passes on immediately', async () => {
  const world = new World();
  const object = { text: '' };
  const open = (name: string) =>
    new SignerLease({
      ...{ bucket: bucketIn(world, object, () => 10), key: 'k', name, lasts: LASTS, desk: () => null },
      requireContinued: () => {},
      waiting: (reason) => void waits.push(`${name}: ${reason}`),
      clock: () => world.now,
      uptime: () => world.now,
      pause: (ms, signal) => world.sleep(ms, signal),
    });
  const waits: string[] = [];
  const [a, b, c] = [open('a'), open('b'), open('c')];
  assert.throws(() => a.assertHeld(), /^Busy: nothing is signed here: this server does not hold the lease yet; try/);
  void a.acquire();
  await world.run(1_000);
  assert.ok(a.isHeld());
  void b.acquire();
  await world.run(10 * LASTS);
  assert.ok(a.isHeld() && !b.isHeld(), 'it is renewed');
  assert.match(waits.join('\n'), /^b: a signs, since \d{4}-\d\d-\d\dT[\d:.]+Z$/m);
  const { since, ...waiting } = b.state();
  assert.ok(since > 0);
  assert.partialDeepStrictEqual(waiting, { isHeld: false, waitingFor: 'holder', left: 0, transitions: 0 });
  assert.partialDeepStrictEqual(a.state(), { isHeld: true, waitingFor: null, reason: null, transitions: 1 });
  void a.stop();
  await world.run(world.now + LASTS / 2);
  assert.ok(!a.isHeld() && b.isHeld());
  void c.acquire();
  object.text = object.text.replace('"name":"b"', '"name":"thief"').replace(/"id":"[^"]+"/, '"id":"x"');
  await world.run(world.now + LASTS / 2);
  assert.throws(() => b.assertHeld(), /another server has taken the lease; try again later$/);
  assert.ok(!c.isHeld());
  await world.run(world.now + 2 * LASTS);
  assert.ok(c.isHeld());
});

/** A lease that a test holds, over one object and a clock that the test sets. */
function heldBy(world: World, object: StoredLease, more: Partial<SignerLeaseOptions> = {}): SignerLease {
  return new SignerLease({
    ...{ bucket: bucketIn(world, object, () => 10), key: 'k', name: 'a', lasts: LASTS, desk: () => null },
    requireContinued: () => {},
    waiting: () => {},
    clock: () => world.now,
    uptime: () => world.now,
    pause: (ms, signal) => world.sleep(ms, signal),
    ...more,
  });
}

test('while a store fails no leaf is signed twice, and a short failure stops no server', { skip: ONLY_WIDE }, () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1_000, max: 2 * LASTS }),
      fc.integer({ min: 0, max: 3 * LASTS }),
      fc.constantFrom('error', 'wait'),
      fc.integer({ min: 1, max: 400 }),
      async (at, length, kind, delay) => {
        const world = new World();
        const object = { text: '' };
        const store = bucketIn(world, object, () => delay + (delay % 7 === 0 ? 1 : 0));
        const fails = () => world.now >= at && world.now < at + length;
        /** What S3Bucket does with 500, 429 and 503: it tries again, or waits as `Retry-After` says, then gives up. */
        const failing = async (signal: AbortSignal | undefined): Promise<void> => {
          if (!fails()) return;
          await world.sleep(kind === 'error' ? delay : 4 * LASTS, signal);
          throw new Fault('unavailable', 'the store failed (status 503); try again later');
        };
        const bucket: Bucket = {
          ...store,
          get: async (key, max, signal) => failing(signal).then(() => store.get(key, max, signal)),
          put: async (key, bytes, options) => failing(options?.signal).then(() => store.put(key, bytes, options)),
        };
        const [a, b] = [heldBy(world, object, { bucket }), heldBy(world, object, { bucket, name: 'b' })];
        a.acquire().catch(() => {});
        await world.run(900 + 6 * delay);
        b.acquire().catch(() => {});
        for (let n = 0; n < 240; n++) {
          await world.run(world.now + LASTS / 20);
          assert.ok(!a.isHeld() || !b.isHeld(), 'two hold the lease at once');
          if (length < LASTS / 3) assert.ok(!a.lost.aborted, 'a failure of less than a third of the lease ends nobody');
        }
        assert.ok(a.isHeld() || b.isHeld(), 'somebody signs when the store is well again');
      },
    ),
    { numRuns: 60 },
  ),
);

test('time asleep counts', async () => {
  const world = new World();
  let asleep = 0;
  const lease = heldBy(world, { text: '' }, { uptime: () => world.now + asleep });
  void lease.acquire();
  await world.run(1_000);
  assert.ok(lease.isHeld());
  asleep = LASTS;
  assert.throws(() => lease.assertHeld(), /it could not renew the lease in time/);
});

test('a server that stops while it takes the lease gives it back', async () => {
  const world = new World();
  const object = { text: '' };
  const lease = heldBy(world, object);
  lease.acquire().catch(() => {});
  // The request has arrived, and its response is on its way.
  await world.run(35);
  assert.match(object.text, /"name":"a"/);
  void lease.stop();
  await world.run(1_000);
  assert.ok(!lease.isHeld());
  assert.match(object.text, /"holder":null/);
});

test('no two writes have the same bytes: watchers see a repeated renewal as one', async () => {
  const world = new World();
  const object = { text: '' };
  const seen: string[] = [];
  let fails = false;
  const bucket = bucketIn(world, object, () => 10);
  const put: Bucket['put'] = async (...request) => {
    const etag = await bucket.put(...request);
    if (etag !== null) seen.push(object.text);
    if (fails) throw new Fault('unavailable', 'the response was lost');
    return etag;
  };
  const lease = heldBy(world, object, { bucket: { ...bucket, put } });
  void lease.acquire();
  await world.run(1_000);
  fails = true;
  await world.run(world.now + LASTS / 3);
  fails = false;
  await world.run(world.now + LASTS);
  assert.ok(lease.isHeld());
  assert.equal(new Set(seen).size, seen.length);
});

test('a removed lease is not taken before its holder has released it', async () => {
  const world = new World();
  const object = { text: '' };
  const [a, b] = [heldBy(world, object), heldBy(world, object, { name: 'b' })];
  void a.acquire();
  await world.run(1_000);
  void b.acquire();
  await world.run(world.now + LASTS / 10);
  object.text = '';
  for (let n = 0; n < 60; n++) {
    await world.run(world.now + LASTS / 30);
    assert.ok(!a.isHeld() || !b.isHeld());
  }
  assert.ok(b.isHeld());
});

test('the loss of a lease says why it could not be renewed', async () => {
  const world = new World();
  const object = { text: '' };
  const bucket = bucketIn(world, object, () => 10);
  let fault: string | null = null;
  const asked =
    <Args extends unknown[], T>(ask: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      fault === null ? ask(...args) : Promise.reject(new Fault('unavailable', fault));
  const lease = heldBy(world, object, { bucket: { ...bucket, get: asked(bucket.get), put: asked(bucket.put) } });
  void lease.acquire();
  await world.run(1_000);
  fault = 'the store rejects the time of this machine; set its clock';
  await world.run(world.now + LASTS);
  assert.throws(() => lease.assertHeld(), /could not renew the lease in time \(the store rejects the time of this/);
  assert.match(String(lease.lost.reason), /set its clock/);
});

test('a store that never answers is asked again before the lease is over', async () => {
  const world = new World();
  const object = { text: '' };
  const bucket = bucketIn(world, object, () => 10);
  let hangs = 0;
  const put: Bucket['put'] = (...request) => (hangs-- > 0 ? new Promise(() => {}) : bucket.put(...request));
  const lease = heldBy(world, object, { bucket: { ...bucket, put } });
  void lease.acquire();
  await world.run(1_000);
  hangs = 1;
  const until = world.now + LASTS;
  await world.run(until);
  // With nothing left to wait for, time would stand.
  assert.ok(world.now >= until && lease.isHeld());
});

test('the lease of another desk is rejected, and so is a store without conditional writes', async () => {
  const world = new World();
  const object = { text: '' };
  const ours = heldBy(world, object, { desk: () => 'key-1' });
  void ours.acquire();
  await world.run(1_000);
  void ours.stop();
  await world.run(world.now + 1_000);
  const other = heldBy(world, object, { desk: () => 'key-2' }).acquire();
  const empty = heldBy(world, object).acquire();
  const copy = heldBy(world, object, { desk: () => 'key-1' });
  const outcomes = Promise.allSettled([other, empty]);
  void copy.acquire();
  await world.run(world.now + 1_000);
  const [first, second] = (await outcomes).map((one) => String(one.status === 'rejected' ? one.reason : one));
  assert.match(
    first ?? '',
    /k is the lease of a desk whose first signing key is key-1, and that of this database is key-2; restore/,
  );
  assert.match(second ?? '', /whose first signing key is key-1, and this database has no key yet; restore/);
  assert.ok(copy.isHeld());

  const loose = { text: '' };
  const bucket = bucketIn(world, loose, () => 10);
  let removed = 0;
  const put: Bucket['put'] = (key, bytes) =>
    bucket.put(key, bytes, { onlyIf: loose.text === '' ? 'absent' : { etag: etagOf(loose.text) } });
  const remove = async () => {
    loose.text = '';
    removed++;
  };
  const lease = heldBy(world, loose, { bucket: { ...bucket, put, remove } });
  const refused = assert.rejects(
    lease.acquire(),
    /a bucket overwrites an object in spite of If-None-Match; a store must/,
  );
  await world.run(world.now + 1_000);
  await refused;
  assert.ok(!lease.isHeld());
  assert.equal(removed, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../src/shared/fault.ts';
import { overlap, parseNodes, type RecordsNodes } from '../../src/shared/nodes.ts';
import type { Bucket, PutOptions } from '../../src/shared/storage/bucket.ts';
import { leaseKey, RangeClaim } from '../../src/signing/range-claim.ts';
import { SignerLease } from '../../src/signing/signer-lease.ts';
import { etagOf, World } from '../support/lease-world.ts';
import * as fc from '../support/properties.ts';

const LASTS = 30_000;

type Objects = Map<string, string>;

/** A bucket whose requests and responses each take as long as `delay` says. */
function bucketIn(world: World, objects: Objects, delay: () => number = () => 10): Bucket {
  const asked = async <T>(work: () => T): Promise<T> => {
    await world.sleep(delay());
    const result = work();
    await world.sleep(delay());
    return result;
  };
  return {
    name: 'a bucket',
    get: (key: string) =>
      asked(() => {
        const text = objects.get(key);
        return text === undefined ? null : { bytes: Buffer.from(text), etag: etagOf(text), age: 0 };
      }),
    put: (key: string, bytes: Uint8Array, { onlyIf }: PutOptions = {}) =>
      asked(() => {
        const wanted = onlyIf === 'absent' ? '' : (onlyIf?.etag ?? '');
        if (wanted !== etagOf(objects.get(key) ?? '')) return null;
        objects.set(key, Buffer.from(bytes).toString());
        return etagOf(objects.get(key) ?? '');
      }),
    async *list(prefix: string) {
      const keys = await asked(() => [...objects.keys()].filter((key) => key.startsWith(prefix)));
      for (const key of keys) yield { key, size: 1, etag: '' };
    },
  } as unknown as Bucket;
}

interface Opened {
  lease: SignerLease;
  waits: string[];
}

function open(
  world: World,
  bucket: Bucket,
  own: string,
  table: string,
  more: { desk?: string; dead?: () => boolean } = {},
): Opened {
  const nodes = parseNodes(table.split(','), own) as RecordsNodes;
  const waits: string[] = [];
  const desk = () => more.desk ?? own;
  const lease = new SignerLease({
    ...{ bucket, key: leaseKey('', nodes), name: own, lasts: LASTS, desk },
    claim: new RangeClaim({ bucket, prefix: '', lasts: LASTS }, nodes, desk, () => world.now),
    requireContinued: () => {},
    waiting: (reason) => void waits.push(reason),
    clock: () => world.now,
    uptime: () => world.now,
    pause: async (ms, signal) => {
      await world.sleep(ms, signal);
      // A process that was killed never goes on.
      if (more.dead?.()) await new Promise(() => {});
    },
  });
  return { lease, waits };
}

/** The lease of a server that is no node. */
function withoutRange(world: World, bucket: Bucket, key: string): SignerLease {
  return new SignerLease({
    ...{ bucket, key, name: 'one', lasts: LASTS, desk: () => 'first' },
    requireContinued: () => {},
    waiting: () => {},
    clock: () => world.now,
    uptime: () => world.now,
    pause: (ms, signal) => world.sleep(ms, signal),
  });
}

const THREE = 'a=00-54@http://a,b=55-a9@http://b,c=aa-ff@http://c';
const LATER = 'd=00-54@http://d,b=55-a9@http://b,c=aa-ff@http://c,a=gone';

test('each node of a table signs for its range', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const nodes = ['a', 'b', 'c'].map((name) => open(world, bucket, name, THREE));
  for (const { lease } of nodes) void lease.acquire();
  await world.run(LASTS);
  assert.deepEqual(
    nodes.map(({ lease }) => lease.isHeld()),
    [true, true, true],
  );
});

test('a server without names, in front of the nodes, keeps none of them from signing', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const front = withoutRange(world, bucket, leaseKey('', parseNodes(THREE.split(','), undefined) as RecordsNodes));
  void front.acquire();
  await world.run(LASTS);
  const { lease } = open(world, bucket, 'a', THREE);
  void lease.acquire();
  await world.run(2 * LASTS);
  assert.deepEqual([front.isHeld(), lease.isHeld()], [true, true]);
});

test('a range is taken when the lease of its node was silent, and that node never signs again', async () => {
  const world = new World();
  const objects: Objects = new Map();
  const bucket = bucketIn(world, objects);
  let isDead = false;
  const a = open(world, bucket, 'a', THREE, { dead: () => isDead });
  void a.lease.acquire();
  await world.run(LASTS);
  const d = open(world, bucket, 'd', LATER);
  void d.lease.acquire();
  await world.run(10 * LASTS);
  assert.ok(a.lease.isHeld() && !d.lease.isHeld(), 'a node that lives keeps its names');
  assert.match(d.waits.at(-1) ?? '', /^node a may still sign for 00-54; its lease is watched for 30 s$/);
  isDead = true;
  const killed = world.now;
  for (let n = 0; !d.lease.isHeld() && n < 60; n++) await world.run(world.now + LASTS / 20);
  assert.ok(!a.lease.isHeld() && d.lease.isHeld());
  assert.ok(world.now - killed >= LASTS - LASTS / 6, `after ${world.now - killed} ms`);
  const back = open(world, bucket, 'a', THREE);
  const refused = assert.rejects(
    back.lease.acquire(),
    /^Fault: a bucket: node d took the names of this node on \d{4}-.*give this machine another RECORDS_NODE, with an empty DATA_DIR$/,
  );
  await world.run(world.now + LASTS);
  await refused;
  void d.lease.stop();
  await world.run(world.now + LASTS);
  const again = open(world, bucket, 'a', THREE);
  const still = assert.rejects(again.lease.acquire(), /node d took the names/);
  await world.run(world.now + LASTS);
  await still;
});

test('a node that stopped in order keeps its names for the time of a lease', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const a = open(world, bucket, 'a', THREE);
  void a.lease.acquire();
  await world.run(LASTS);
  const stopped = a.lease.stop();
  const d = open(world, bucket, 'd', LATER);
  void d.lease.acquire();
  await world.run(world.now + LASTS / 2);
  await stopped;
  assert.ok(!d.lease.isHeld());
  const restarted = open(world, bucket, 'a', THREE);
  void restarted.lease.acquire();
  await world.run(world.now + 3 * LASTS);
  assert.ok(restarted.lease.isHeld() && !d.lease.isHeld());
});

test('a part of a range goes to another node when its node starts with the new table', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const a = open(world, bucket, 'a', 'a=00-ff@http://a');
  void a.lease.acquire();
  await world.run(LASTS);
  const split = 'a=00-7f@http://a,b=80-ff@http://b';
  const b = open(world, bucket, 'b', split);
  void b.lease.acquire();
  await world.run(5 * LASTS);
  assert.ok(!b.lease.isHeld());
  assert.match(
    b.waits.at(-1) ?? '',
    /^node a has the names 00-ff until it is started with the RECORDS_NODES of this one$/,
  );
  void a.lease.stop();
  await world.run(world.now + 1_000);
  const again = open(world, bucket, 'a', split);
  void again.lease.acquire();
  await world.run(world.now + LASTS);
  assert.ok(again.lease.isHeld() && b.lease.isHeld());
});

test('a node that a table does not name is refused, and so is one beside a service that has all names', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const a = open(world, bucket, 'a', THREE);
  void a.lease.acquire();
  await world.run(LASTS);
  const d = open(world, bucket, 'd', 'd=00-ff@http://d');
  const refused = assert.rejects(
    d.lease.acquire(),
    /node a has the names 00-54 by signers\/a\.json; give each node the same RECORDS_NODES, with a=gone/,
  );
  await world.run(world.now + LASTS);
  await refused;

  const other = bucketIn(world, new Map());
  const single = withoutRange(world, other, leaseKey('', null));
  void single.acquire();
  await world.run(world.now + LASTS);
  const stranger = open(world, other, 'b', THREE);
  const unknown = assert.rejects(
    stranger.lease.acquire(),
    /the service that had all names has the names 00-ff by signer\.json; start the node that has its database first/,
  );
  await world.run(world.now + LASTS);
  await unknown;
  const heir = open(world, other, 'a', THREE, { desk: 'first' });
  void heir.lease.acquire();
  await world.run(world.now + 3 * LASTS);
  assert.ok(single.isHeld() && !heir.lease.isHeld());
  void single.stop();
  await world.run(world.now + 3 * LASTS);
  assert.ok(heir.lease.isHeld());
});

test('of two nodes that begin at one moment with names in common, never both sign', async () => {
  const world = new World();
  const bucket = bucketIn(world, new Map());
  const nodes = [open(world, bucket, 'a', 'a=00-ff@http://a'), open(world, bucket, 'b', 'b=00-ff@http://b')];
  const said: string[] = [];
  for (const { lease } of nodes) lease.acquire().catch((error) => said.push(String(error)));
  for (let n = 0; n < 100; n++) {
    await world.run(world.now + LASTS / 20);
    assert.ok(!nodes.every(({ lease }) => lease.isHeld()));
  }
  assert.match(said.join(' ') + nodes.flatMap(({ waits }) => waits).join(' '), /give each node the same RECORDS_NODES/);
});

test('through delays, kills and wrong tables, no two nodes may sign for a name at once', async () => {
  let takes = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2 ** 31 - 2 }), async (seed) => {
      const world = new World();
      const objects: Objects = new Map();
      let state = seed + 1;
      // Park and Miller's generator.
      const random = (max: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % max;
      };
      const delay = () => (random(12) === 0 ? random(3 * LASTS) : random(300));
      const tables: [own: string, table: string][] = [
        ['a', 'a=00-7f@http://a,b=80-ff@http://b'],
        ['b', 'a=00-7f@http://a,b=80-ff@http://b'],
        ['d', 'd=00-7f@http://d,b=80-ff@http://b,a=gone'],
        // Wrong: nobody told the others.
        ['e', 'e=40-bf@http://e,f=00-3f@http://f,g=c0-ff@http://g,a=gone,b=gone,d=gone'],
      ];
      const held = new Map<number, { lease: SignerLease; range: string }>();
      let isOver = false;
      const server = async (n: number, own: string, table: string): Promise<void> => {
        const range = (parseNodes(table.split(','), own) as RecordsNodes).own?.range ?? '';
        await world.sleep(random(3 * LASTS));
        while (!isOver) {
          let isKilled = false;
          const { lease } = open(world, bucketIn(world, objects, delay), own, table, {
            dead: () => isKilled || isOver,
          });
          await lease.acquire().then(
            () => takes++,
            (error: unknown) => assert.ok(error instanceof Fault, String(error)),
          );
          held.set(n, { lease, range });
          while (lease.isHeld() && random(20) !== 0) {
            const others = [...held].filter(([other]) => other !== n).map(([, one]) => one);
            const rivals = others.filter((one) => overlap(one.range, range) && one.lease.isHeld());
            assert.deepEqual(
              rivals.map((one) => one.range),
              [],
              `beside ${range}`,
            );
            await world.sleep(1_000 + random(LASTS / 3));
          }
          isKilled = true;
          await world.sleep(1_000 + random(4 * LASTS));
        }
      };
      const failed: unknown[] = [];
      for (const [n, [own, table]] of tables.entries()) server(n, own, table).catch((error) => failed.push(error));
      await world.run(20 * LASTS);
      isOver = true;
      assert.deepEqual(failed, []);
    }),
    { numRuns: 20, endOnFailure: true },
  );
  assert.ok(takes > 0);
});

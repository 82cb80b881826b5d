import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { openStore } from '../../src/store/store.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { probe } from '../support/probes.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('clocks-child.ts', import.meta.url));
const ROUNDS = 15;
/** Two are enough to be served out of order. */
const PROCESSES = ONLY_WIDE === false ? 4 : 2;
const NOON = Date.UTC(2026, 10, 20, 12);
const YEAR = 365 * 86_400_000;

function opened(t: TestContext) {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  return { file, store };
}

/**
 * How many of several processes got each of several things that all of them ask for while the database is busy: each
 * reads its clock at another moment, and in no order is it served.
 */
async function race(t: TestContext, what: string): Promise<number[]> {
  const { file } = opened(t);
  const children = Array.from({ length: PROCESSES }, () => fork(CHILD, [file, what]));
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const holder = new Database(file);
  t.after(() => holder.close());
  const got: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    holder.exec('BEGIN IMMEDIATE');
    const said = children.map((child) => once(child, 'message'));
    for (const child of children) {
      child.send(round);
      await setTimeout(15);
    }
    holder.exec('ROLLBACK');
    got.push((await Promise.all(said)).filter(([isMine]) => isMine === true).length);
  }
  for (const child of children) child.disconnect();
  return got;
}

const EACH_ONCE = Array.from({ length: ROUNDS }, () => 1);

test('of processes that admit the same caller concurrently, one does', { skip: ONLY_WIDE }, async (t) => {
  assert.deepEqual(await race(t, 'keyless'), EACH_ONCE);
});

test('of processes that take the same lease concurrently, one gets it', { skip: ONLY_WIDE }, async (t) => {
  assert.deepEqual(await race(t, 'duty'), EACH_ONCE);
});

test('of processes that take the lease of the press of the same paper concurrently, one gets it', {
  skip: ONLY_WIDE,
}, async (t) => {
  assert.deepEqual(await race(t, 'press'), EACH_ONCE);
});

test('a process that read its clock before waiting for the lock does not see others as in the future', (t) => {
  const { file, store } = opened(t);
  const other = openStore({ file });
  t.after(() => other.database.close());
  let now = NOON;
  // While this one waits, the other lets the caller in, a moment later by the same clock.
  const waits = () => {
    now += 3;
    return now;
  };
  assert.equal(other.records.keyless.admit('192.0.2.1', () => NOON + 2, 100).pass, 'open');
  assert.equal(store.records.keyless.admit('192.0.2.1', waits, 100).pass, 'throttled');
  assert.equal(
    store.records.keyless.admit('192.0.2.1', () => NOON, 100).pass,
    'throttled',
    'a lagging clock is no way in',
  );

  assert.equal(
    other.database.leases.acquire('mails', 'other', () => NOON + 2_000, 10_000),
    'acquired',
  );
  assert.equal(
    store.database.leases.acquire('mails', 'mine', () => NOON, 10_000),
    null,
  );
  assert.equal(
    other.database.leases.acquire('mails', 'other', () => NOON + 3_000, 10_000),
    'renewed',
  );
  assert.equal(
    store.database.leases.acquire('mails', 'mine', () => NOON + 12_999, 10_000),
    null,
  );
  assert.equal(
    store.database.leases.acquire('mails', 'mine', () => NOON + 13_000, 10_000),
    'acquired',
  );
});

test('hostnames that were put off under a clock that ran ahead are probed again once it was set back', async (t) => {
  const clock = { now: NOON + YEAR };
  const app = appContextIn(t, tempFolder(t), clock);
  app.signer.open();
  const names = ['harbor.example', 'quay.example'];
  app.store.records.watch(names.map(parseHostname), clock.now);
  const queue = localQueue(app, 'test');
  const { lease } = queue.leaseNames(['harbor.example']) ?? { lease: '' };
  await queue.submit(lease, [probe('harbor.example', clock.now, { A: ['192.0.2.1'] })]);
  assert.deepEqual((await queue.lease(9))?.hostnames, ['quay.example'], 'leased, and its scanner dies');
  clock.now = NOON;
  assert.deepEqual((await queue.lease(9))?.hostnames.toSorted(), names);
  assert.equal(await queue.lease(9), null, 'once');
});

test('a lease that ends too far in the future has no holder: the clock was set back', (t) => {
  const { store } = opened(t);
  assert.equal(
    store.database.leases.acquire('mails', 'gone', () => NOON + YEAR, 10_000),
    'acquired',
  );
  assert.equal(
    store.database.leases.acquire('mails', 'mine', () => NOON, 10_000),
    'acquired',
  );
  assert.equal(
    store.database.leases.acquire('mails', 'mine', () => NOON + 1, 10_000),
    'renewed',
  );
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { startScan, startScanner } from '../../src/records/jobs/scan-loop.ts';
import { type Prober, proberOf } from '../../src/records/probe/prober.ts';
import type { ScanQueue } from '../../src/records/probe/scan-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { Fault } from '../../src/shared/fault.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { ask } from '../support/http.ts';
import { lyingServer } from '../support/lying-server.ts';
import { probe } from '../support/probes.ts';
import { failuresIn, serve, until } from '../support/program.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const silent = pino({ level: 'silent' });
const quiet = { onOutcomes() {}, onNoResolver() {}, onFailure() {} };

/** A prober that sees one address everywhere, and how many looks it was asked for at a time. */
function seeing(t: TestContext, at: number): Prober & { most: number } {
  const prober = {
    most: 0,
    async probe(hostname: string) {
      under++;
      prober.most = Math.max(prober.most, under);
      await new Promise((done) => setTimeout(done, 5));
      under--;
      return probe(hostname, at, { A: ['192.0.2.1'] });
    },
    resolver: { ask: async () => probe('x.test', at, {}).signals.A, servers: [], close() {} },
    close() {},
  };
  let under = 0;
  t.after(() => prober.close());
  return prober;
}

test('a server probes hostnames as they fall due, and stops in order', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [
    { name: 'example.com', lines: ['a A 192.0.2.1', 'b A 192.0.2.2'] },
  ]);
  t.after(knot.stop);
  const env = { SERVICES: 'records', SCANNER: 'on', RESOLVERS: `127.0.0.1:${knot.port}`, LOG_LEVEL: 'info' };
  const server = await serve(t, folder, env);
  const app = openAppContext(readSettings(envIn(folder)));
  t.after(() => app.close());
  const observed = (count: number) =>
    until(() => (app.store.records.observationTotals().count === count ? true : null));
  for (const [index, name] of ['a.example.com', 'b.example.com'].entries()) {
    app.store.records.watch([parseHostname(name)], Date.now());
    await observed(index + 1);
  }
  const stopped = await server.stop();
  assert.equal(stopped.code, 0);
  assert.deepEqual(failuresIn(stopped), []);
  const faults: string[] = [];
  assert.equal(auditRecords(app, faults), 2);
  assert.deepEqual(faults, []);
});

test('many due hostnames are all probed, a few at a time', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const hosts = Array.from({ length: 300 }, (_, n) => `h${n}.zone${n % 7}.test`);
  records.watch(hosts.map(parseHostname), clock.now);
  const prober = seeing(t, clock.now);
  await startScan(localQueue(app, 'test'), prober, quiet, { atOnce: 96, once: true }).ended;
  assert.deepEqual(records.observationTotals(), { count: 300, newest: 300 });
  for (const { id, hostname } of records.everyHost()) assert.equal(records.observationCount(id), 1, hostname);
  assert.ok(prober.most <= 96, `${prober.most} at a time`);
});

test('hosts whose servers never answer delay only themselves', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const hosts = Array.from({ length: 240 }, (_, n) => `${n % 6 === 0 ? 'slow' : 'quick'}${n}.zone${n}.test`);
  records.watch(hosts.map(parseHostname), clock.now);
  const quick = seeing(t, clock.now);
  const closing = Promise.withResolvers<void>();
  const prober: Prober = {
    ...quick,
    async probe(hostname) {
      if (hostname.startsWith('slow')) await closing.promise;
      return quick.probe(hostname);
    },
    close: () => closing.resolve(),
  };
  const scan = startScan(localQueue(app, 'test'), prober, quiet, { atOnce: 96 });
  await until(() => (records.observationTotals().count === 200 ? true : null));
  await scan.stop();
  assert.equal(records.observationTotals().count, 200);
  assert.equal(records.stats(clock.now).due, 40, 'what was under way is due again');
});

test('while no resolver answers nothing is recorded, routes answer, and everything is due again', async (t) => {
  const stand = await recordsStand(t);
  const { records } = stand.app.store;
  const mute = await lyingServer(t, () => []);
  records.watch(
    Array.from({ length: 40 }, (_, n) => parseHostname(`h${n}.example.com`)),
    stand.clock.now,
  );
  const settings = { ...stand.app.settings, resolvers: [mute] };
  const stop = startScanner(stand.app, proberOf(settings), silent);
  await until(() => (mute.heard.length > 100 ? true : null));
  assert.equal((await ask(stand.url, '/health')).status, 200);
  await stop();
  assert.equal(records.observationTotals().count, 0);
  assert.deepEqual(records.stats(stand.clock.now), {
    watched: 40,
    due: 40,
    leased: 0,
    next_due_at: stand.clock.now,
  });
});

test('a scan that finds no resolver says so', async (t) => {
  const { app, clock } = await recordsStand(t);
  app.store.records.watch([parseHostname('a.test')], clock.now);
  const deaf = probe('a.test', clock.now, {});
  for (const signal of Object.values(deaf.signals)) signal.status = 'timeout';
  const prober: Prober = {
    probe: async () => deaf,
    resolver: { ask: async () => deaf.signals.A, servers: [], close() {} },
    close() {},
  };
  const { ended } = startScan(localQueue(app, 'test'), prober, quiet, { atOnce: 96, once: true });
  await assert.rejects(ended, { code: 'unavailable', message: /no resolver answers/ });
  assert.equal(app.store.records.observationTotals().count, 0);
  assert.equal(app.store.records.stats(clock.now).due, 1);
  // One host that nobody answers for, while the resolver does, is an observation like any other.
  const alive = { ...prober, resolver: { ...prober.resolver, ask: async () => probe('x.test', 0, {}).signals.A } };
  await startScan(localQueue(app, 'test'), alive, quiet, { atOnce: 96, once: true }).ended;
  assert.equal(app.store.records.observationTotals().count, 1);
});

test('a failing queue is retried, and leases are released', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  records.watch([parseHostname('a.test')], clock.now);
  const local = localQueue(app, 'test');
  let failures = 0;
  const shaky: ScanQueue = {
    ...local,
    async submit(lease, looks) {
      if (failures++ === 0) throw new Fault('unavailable', 'the disk is full');
      return local.submit(lease, looks);
    },
  };
  const told: unknown[] = [];
  const scan = startScan(
    shaky,
    seeing(t, clock.now),
    { ...quiet, onFailure: (error) => told.push(error) },
    { atOnce: 96 },
  );
  await until(() => (records.observationTotals().count === 1 ? true : null));
  await scan.stop();
  assert.equal(told.length, 1);
  assert.match(String(told[0]), /disk is full/);
});

test('a probe that cannot be signed keeps the others from nothing', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const names = ['a.test', 'b.test', 'c.test'];
  records.watch(names.map(parseHostname), clock.now);
  const queue = localQueue(app, 'test');
  const taken = await queue.lease(9);
  const looks = names.map((name) => probe(name, clock.now, { A: ['192.0.2.1'] }));
  // No record is made of a time that is none.
  if (looks[1] !== undefined) looks[1].at = Number.NaN;
  const entered = await queue.submit(taken?.lease ?? '', looks);
  assert.deepEqual(
    entered.map(({ outcome }) => outcome),
    ['recorded', 'refused', 'recorded'],
  );
  assert.deepEqual(records.observationTotals(), { count: 2, newest: 2 });
});

import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { gatheredQueue } from '../../src/records/jobs/gathered-queue.ts';
import { enrich, localQueue } from '../../src/records/jobs/local-queue.ts';
import { startScan } from '../../src/records/jobs/scan-loop.ts';
import type { ProbeOutcome, ScanQueue } from '../../src/records/probe/scan-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { Fault } from '../../src/shared/fault.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { probe, signal } from '../support/probes.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { NO_STRACE, traced } from '../support/strace.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = new URL('./gathered-child.ts', import.meta.url);
const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `h${n}.zone${n % 20}.test`);
const looks = (names: string[], now: number) => names.map((name) => probe(name, now, { A: ['192.0.2.1'] }));

test('probes of several leases are submitted together, and each gets its own outcome', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const names = namesOf(60);
  records.watch(names.map(parseHostname), clock.now);
  const local = localQueue(app, 'test');
  const turns: number[] = [];
  let turn = 0;
  const queue = gatheredQueue({
    ...local,
    submit(lease, probes) {
      turns.push(turn);
      setImmediate(() => turn++);
      return local.submit(lease, probes);
    },
  });
  const leases = [await queue.lease(20), await queue.lease(20), await queue.lease(20)];
  const began = performance.now();
  const outcomes = await Promise.all(
    leases.flatMap((lease) =>
      looks(lease?.hostnames ?? [], clock.now).map((look) => {
        // No record is made of a time that is none.
        if (look.hostname === 'h7.zone7.test') look.at = Number.NaN;
        return queue.submit(lease?.lease ?? '', [look]);
      }),
    ),
  );
  assert(new Set(turns).size <= 4, `submitted in turns ${turns.join(' ')}`);
  assert(performance.now() - began >= 50, 'the last ones waited for others');
  const flat = outcomes.flat();
  assert.deepEqual(
    flat.map(({ hostname }) => hostname),
    leases.flatMap((lease) => lease?.hostnames ?? []),
  );
  assert.deepEqual(
    flat.filter(({ outcome }) => outcome !== 'recorded').map(({ hostname }) => hostname),
    ['h7.zone7.test'],
  );
  assert.deepEqual(records.observationTotals(), { count: 59, newest: 59 });
  assert.deepEqual(auditRecords(app, []), 59);
});

test('between two turns of the event loop, answers of a scan are recorded up to a number of bytes', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  records.watch(namesOf(48).map(parseHostname), clock.now);
  const local = localQueue(app, 'test');
  /** The most observations that one turn stored, when every answer has so many bytes. */
  const mostAtOnce = async (bytes: number): Promise<number> => {
    const lease = await local.lease(24);
    const probes = (lease?.hostnames ?? []).map((name) => probe(name, clock.now, { TXT: ['x'.repeat(bytes)] }));
    const before = records.observationTotals().count;
    const counts = [before];
    const done = local.submit(lease?.lease ?? '', probes);
    while (counts.at(-1) !== before + 24) {
      await new Promise((resolve) => setImmediate(resolve));
      counts.push(records.observationTotals().count);
    }
    await done;
    return Math.max(...counts.slice(1).map((count, n) => count - (counts[n] ?? 0)));
  };
  assert.equal(await mostAtOnce(60_000), 2, 'as much as two of the largest DNS messages');
  assert.equal(await mostAtOnce(20), 24, 'ordinary ones share a commit');
});

test('a lease that was lost, and a failing database, fail those alone whose probes they are', async () => {
  const submitted: string[] = [];
  const queue: ScanQueue = gatheredQueue({
    lease: async () => null,
    release: async () => {},
    async submit(lease: string, probes) {
      submitted.push(lease);
      if (lease === 'down') throw new Fault('unavailable', 'the disk is full');
      return probes.map(({ hostname }): ProbeOutcome => ({ hostname, outcome: 'lost' }));
    },
  });
  const [down, lost] = await Promise.allSettled([
    queue.submit('down', looks(['a.test'], 0)),
    queue.submit('other', looks(['b.test', 'c.test'], 0)),
  ]);
  assert.equal(down.status === 'rejected' && (down.reason as Fault).code, 'unavailable');
  assert.deepEqual(lost.status === 'fulfilled' && lost.value.map(({ hostname }) => hostname), ['b.test', 'c.test']);
  assert.deepEqual(await queue.submit('later', looks(['d.test'], 0)), [{ hostname: 'd.test', outcome: 'lost' }]);
  assert.deepEqual(submitted, ['down', 'other', 'other', 'later']);
});

test('a look that somebody waits for gets between the commits of a scan', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  records.watch(namesOf(400).map(parseHostname), clock.now);
  const asked = parseHostname('asked.test');
  records.watch([asked], clock.now);
  const prober = {
    probe: async (hostname: string) => probe(hostname, clock.now, { A: ['192.0.2.1'] }),
    resolver: { ask: async () => signal([]), servers: [], close() {} },
    close() {},
  };
  const scan = startScan(
    gatheredQueue(localQueue(app, 'test')),
    {
      ...prober,
      probe: async (hostname) => (hostname === asked.hostname ? new Promise(() => {}) : prober.probe(hostname)),
    },
    { onOutcomes() {}, onNoResolver() {}, onFailure() {} },
    { atOnce: 400 },
  );
  t.after(() => void scan.stop());
  await sleep(1);
  const before = records.observationTotals().count;
  for await (const found of enrich(app, [asked.hostname], prober, 'asked'))
    assert('seq' in found, JSON.stringify(found));
  const passed = records.observationTotals().count - before;
  assert(passed < 150, `${passed} observations of the scan were stored first`);
});

/** A folder with names under watch, and scanners over it. */
function scanning(t: TestContext, names: string[]) {
  const folder = tempFolder(t);
  const settings = readSettings(envIn(folder));
  emptyDatabase(settings.dataDir);
  const open = (ahead = 0) => openAppContext(settings, () => Date.now() + ahead);
  const app = open();
  app.signer.open();
  app.store.records.watch(names.map(parseHostname), Date.now());
  app.close();
  const start = async () => {
    const child = fork(CHILD, { env: { ...process.env, ...envIn(folder) }, silent: true });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'message');
    const outcomes: ProbeOutcome[] = [];
    child.on('message', (told: ProbeOutcome[]) => outcomes.push(...told));
    return { child, outcomes };
  };
  return { open, start };
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0);
}

test('a scan syncs the disk at most once for ten observations', { skip: ONLY_WIDE || NO_STRACE }, async (t) => {
  const names = namesOf(600);
  const { open, start } = scanning(t, names);
  const { child } = await start();
  const trace = await traced(t, child.pid ?? 0);
  const exit = ended(child);
  child.send('begin');
  await exit;
  const syncs = trace.calls().filter(({ name }) => name === 'fsync' || name === 'fdatasync').length;
  t.diagnostic(`${syncs} syncs for ${names.length} observations`);
  assert(syncs >= 1 && syncs <= names.length / 10, `${syncs} syncs`);
  const app = open();
  t.after(() => app.close());
  assert.deepEqual(app.store.records.observationTotals(), { count: names.length, newest: names.length });
});

test('scanners that gather, in two processes, probe every host once', { skip: ONLY_WIDE }, async (t) => {
  const names = namesOf(500);
  const { open, start } = scanning(t, names);
  const scanners = [await start(), await start()];
  const exits = scanners.map(({ child }) => ended(child));
  for (const { child } of scanners) child.send('begin');
  await Promise.all(exits);
  const app = open();
  t.after(() => app.close());
  const { records } = app.store;
  assert.deepEqual(records.observationTotals(), { count: 500, newest: 500 });
  for (const { id, hostname } of records.everyHost()) assert.equal(records.observationCount(id), 1, hostname);
  const faults: string[] = [];
  auditRecords(app, faults);
  assert.deepEqual(faults, []);
});

test('a scanner killed in the middle loses only what it had not told, which is done again', {
  skip: ONLY_WIDE,
}, async (t) => {
  for (let round = 0; round < 12; round++) {
    const names = namesOf(1_500);
    const { open, start } = scanning(t, names);
    const { child, outcomes } = await start();
    child.send('begin');
    await once(child, 'message');
    await sleep(Math.random() * 400);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // A minute after the leases of the dead one.
    const app = open(180_000);
    const { records } = app.store;
    const told = outcomes.flatMap((one) => (one.outcome === 'recorded' ? [one] : []));
    for (const { hostname, seq } of told) {
      const host = records.find(hostname);
      assert.notEqual(records.observationBySeq(host?.id ?? 0, seq), null, `${hostname}: seq ${seq} was told`);
    }
    const { count, newest } = records.observationTotals();
    assert.equal(count, newest, 'no number is missing');
    t.diagnostic(`${told.length} told, ${count} stored`);
    const prober = {
      probe: async (hostname: string) => probe(hostname, Date.now(), { A: ['192.0.2.1'] }),
      resolver: { ask: async () => signal([]), servers: [], close() {} },
      close() {},
    };
    const quiet = { onOutcomes() {}, onNoResolver() {}, onFailure() {} };
    await startScan(gatheredQueue(localQueue(app, 'next')), prober, quiet, { atOnce: 96, once: true }).ended;
    assert.deepEqual(records.observationTotals(), { count: names.length, newest: names.length });
    const faults: string[] = [];
    auditRecords(app, faults);
    assert.deepEqual(faults, []);
    app.close();
  }
});

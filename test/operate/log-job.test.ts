import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { logSource } from '../../src/operate/audit/log/served-log.ts';
import { verifyLog } from '../../src/operate/audit/log/verify-log.ts';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { LockedFault } from '../../src/shared/fault.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { startLog } from '../../src/signing/log/log-job.ts';
import { logKeyFile, openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { growLog } from '../support/log-leaves.ts';
import { until } from '../support/program.ts';
import { NO_STRACE, traced } from '../support/strace.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** A log whose lines the test reads. */
function memoryLogger() {
  const lines: { msg: string; level: number; reason?: string; fence?: string }[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { logger: pino({ level: 'info' }, stream), lines };
}

function openIn(t: TestContext, folder: string): AppContext {
  const app = openAppContext(readSettings(envIn(folder, { DATA_ORIGIN: 'https://records.example' })));
  t.after(() => app.close());
  return app;
}

const checkpointIn = (folder: string) => join(folder, 'log/records/checkpoint');
const publishedSize = (folder: string): number =>
  existsSync(checkpointIn(folder)) ? parseCheckpoint(readFileSync(checkpointIn(folder), 'utf8')).size : 0;

test('a running server signs and publishes leaves, at most one head per second', async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  const { logger, lines } = memoryLogger();
  growLog(app, 'records', 20);
  const stop = startLog(app, 'records', logger);
  await until(() => publishedSize(folder) === 20 || null);
  for (let size = 21; size <= 60; size++) {
    growLog(app, 'records', size);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await until(() => publishedSize(folder) === 60 || null);
  await stop();
  const heads = [...app.store.database.log.heads('records')];
  for (const [at, { signed_at }] of heads.entries()) {
    // The clock of the heads is not that of the pauses.
    if (at > 0) assert.ok(signed_at - (heads[at - 1]?.signed_at ?? 0) >= 990, `head ${at} came too soon`);
  }
  assert.deepEqual((await verifyLog(logSource(join(folder, 'log/records')), null)).faults, []);
  assert.deepEqual(lines, []);
});

test('two servers over one database keep one log, and one takes over from the other', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const [one, two] = [openIn(t, folder), openIn(t, folder)];
  const stops = [one, two].map((app) => startLog(app, 'records', memoryLogger().logger));
  growLog(one, 'records', 300);
  await until(() => publishedSize(folder) === 300 || null);
  await stops[0]?.();
  growLog(two, 'records', 600);
  await until(() => publishedSize(folder) === 600 || null);
  await stops[1]?.();
  assert.equal((await verifyLog(logSource(join(folder, 'log/records')), null)).size, 600);
});

test('a disk that refuses the files holds up no head, is said once, and is written when it can be', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  const { logger, lines } = memoryLogger();
  // Root may write into any folder, but not where a file is.
  mkdirSync(join(folder, 'log'));
  writeFileSync(join(folder, 'log/records'), '');
  growLog(app, 'records', 5);
  const stop = startLog(app, 'records', logger);
  const size = () => app.store.database.log.newestHead('records', 'records.example/log')?.size ?? 0;
  await until(() => (size() === 5 && lines.length > 0) || null);
  growLog(app, 'records', 9);
  await until(() => size() === 9 || null);
  assert.equal(lines.length, 1);
  assert.match(lines[0]?.msg ?? '', /the log cannot be published; retrying/);
  assert.match(lines[0]?.reason ?? '', /there is a file where a folder belongs; move it away/);
  await stop();
  rmSync(join(folder, 'log/records'));
  const again = startLog(app, 'records', logger);
  await until(() => publishedSize(folder) === 9 || null);
  await again();
});

test('a fence is said once, and nothing is signed behind it', async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  const { logger, lines } = memoryLogger();
  growLog(app, 'records', 5);
  app.store.database.transact(() => app.store.database.log.setFence('records', 'an old copy'));
  const stop = startLog(app, 'records', logger);
  await until(() => lines.length > 0 || null);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.deepEqual(
    lines.map(({ msg, fence }) => [msg, fence]),
    [['nothing is signed', 'an old copy']],
  );
  assert.equal(app.store.database.log.newestHead('records', 'records.example/log'), null);
  app.store.database.transact(() => app.store.database.log.setFence('records', null));
  await until(() => publishedSize(folder) === 5 || null);
  await stop();
});

test('a lost key stops only the heads, is reported once, and works again when restored', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  growLog(app, 'records', 5);
  const first = startLog(app, 'records', memoryLogger().logger);
  await until(() => publishedSize(folder) === 5 || null);
  await first();
  const file = logKeyFile(app.settings, 'records');
  const key = readFileSync(file);
  rmSync(file);
  growLog(app, 'records', 6);
  const { logger, lines } = memoryLogger();
  const second = startLog(app, 'records', logger);
  await until(() => lines.length > 0 || null);
  await second();
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.msg, 'no head of the log is signed; retrying');
  assert.match(
    lines[0]?.reason ?? '',
    /does not hold the key that signed the log records\.example\/log so far; restore/,
  );
  writeFileSync(file, key);
  const third = startLog(app, 'records', logger);
  await until(() => publishedSize(folder) === 6 || null);
  await third();
});

test('tiles are on the disk, with their names, before the checkpoint names them', { skip: NO_STRACE }, async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  const key = openLogKey(app, 'records');
  growLog(app, 'records', 300);
  while (signHead(app, 'records', key) === 'more');
  const trace = await traced(t, process.pid);
  await publishLog(app, 'records', key, { isWhole: false, assertHeld() {} });
  const isNamed = (call: string) => /^rename.*\/log\/records\/checkpoint"/.test(call);
  const calls = await until(() => {
    const all = trace.calls().map(({ name, text }) => `${name} ${text}`);
    return all.some(isNamed) ? all : null;
  });
  const last = (what: RegExp): number => calls.findLastIndex((call) => what.test(call));
  const checkpoint = calls.findIndex(isNamed);
  for (const part of ['tile/0', 'tile/entries', 'tile/1/000.p']) {
    const named = last(new RegExp(`^rename.*/log/records/${part}/[0-9]+"`));
    const kept = last(new RegExp(`^fsync \\d+<[^>]*/log/records/${part}>`));
    assert.ok(named > 0 && named < kept && kept < checkpoint, `${part}: ${named}, ${kept}, ${checkpoint}`);
  }
});

test('a database that is locked while files are published ends nothing', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const app = openIn(t, folder);
  const { logger, lines } = memoryLogger();
  growLog(app, 'records', 20);
  let asked = 0;
  // Each look at the lease is late, so that it is renewed each time.
  const now = () => Date.now() + (/\bisHeld\b/.test(new Error().stack ?? '') ? 3_000 * ++asked : 0);
  const { leases } = app.store.database;
  let refused = 0;
  const acquire: typeof leases.acquire = (...args) => {
    if (refused >= 4 || !/\bmayWrite\b/.test(new Error().stack ?? '')) return leases.acquire(...args);
    refused++;
    throw new LockedFault('the database is locked by another process');
  };
  const database = { ...app.store.database, leases: { ...leases, acquire } };
  const busy = { ...app, store: { ...app.store, database }, clock: { ...app.clock, now } } as AppContext;
  const stop = startLog(busy, 'records', logger);
  await until(() => publishedSize(folder) === 20 || null);
  await stop();
  assert.equal(refused, 4);
  assert.deepEqual(lines, [], 'the next round publishes');
});

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileStory } from '../../src/desk/file-story.ts';
import { checkpointText } from '../../src/proof/log/checkpoint.ts';
import type { LogService } from '../../src/proof/log/leaf.ts';
import { signNote } from '../../src/proof/signing.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { checkFence } from '../../src/signing/log/log-fence.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { logKeyFile, openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { rotateKey } from '../../src/signing/signing.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { probe } from '../support/probes.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const ORIGINS = { ORIGIN: 'https://papers.example', DATA_ORIGIN: 'https://records.example' };

/** A desk whose folder can be replaced while it is closed, as an operator restores a backup. */
function deskIn(t: TestContext) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const open = (more: Record<string, string> = {}) => appContextIn(t, folder, clock, { ...ORIGINS, ...more });
  const copy = (from: string, to: string) => {
    rmSync(join(folder, to), { recursive: true, force: true });
    cpSync(join(folder, from), join(folder, to), { recursive: true });
  };
  return { folder, clock, open, copy };
}

const file = (app: AppContext, slug: string) => fileStory(deskOf(app), PAPER, filing(slug), { by: 'editor' });

async function publish(app: AppContext, log: LogService = 'desk'): Promise<void> {
  while (signHead(app, log, openLogKey(app, log)) === 'more');
  await publishLog(app, log, openLogKey(app, log), { isWhole: false, assertHeld() {} });
}

/** The check of a start whose witnesses say nothing. */
const start = async (app: AppContext, log: LogService = 'desk') => {
  app.signer.open();
  await checkFence(app, log, async () => null);
};

test('a copy of yesterday signs nothing, and the newest copy signs again', async (t) => {
  const { open, copy } = deskIn(t);
  const first = open();
  createPaper(first);
  file(first, 'one');
  await publish(first);
  first.close();
  copy('var', 'yesterday');
  const second = open();
  file(second, 'two');
  file(second, 'three');
  await publish(second);
  const size = second.store.database.log.size('desk');
  second.close();
  copy('var', 'today');
  copy('yesterday', 'var');

  const restored = open();
  assert.throws(() => rotateKey(restored), { code: 'unavailable', message: /^nothing is signed: the log papers/ });
  assert.equal(restored.store.database.log.size('desk'), size - 2, 'no other key is announced');
  restored.signer.open();
  const line = restored.store.database.log.fence('desk') ?? '';
  assert.equal(
    line,
    `the log papers.example/log has ${size - 2} leaves here, and its published checkpoint has ${size}; restore the newest copy of the database, or move the log's key file away and set LOG_ORIGIN to a new name`,
  );
  assert.throws(() => file(restored, 'four'), { code: 'unavailable', message: `nothing is signed: ${line}` });
  assert.equal(signHead(restored, 'desk', openLogKey(restored, 'desk')), 'none');
  assert.equal(restored.store.desk.archive(PAPER).storyBySlug('one')?.revision, 1, 'what it has is served');
  assert.equal(restored.store.database.log.fence('records'), null, 'the other log is not concerned');
  await start(restored);
  assert.equal(
    restored.store.database.log.fence('desk'),
    line,
    'a start takes the fence down only when its checks pass',
  );
  restored.close();

  copy('today', 'var');
  const newest = open();
  await start(newest);
  assert.equal(newest.store.database.log.fence('desk'), null);
  file(newest, 'four');
  await publish(newest);
  assert.equal(newest.store.database.log.newestHead('desk', 'papers.example/log')?.size, size + 1);
});

test('under a new name the log of an old copy starts over, with the leaves that it has', async (t) => {
  const { folder, open, copy } = deskIn(t);
  const first = open();
  createPaper(first);
  file(first, 'one');
  await publish(first);
  first.close();
  copy('var', 'yesterday');
  const second = open();
  file(second, 'two');
  await publish(second);
  second.close();
  copy('yesterday', 'var');
  const old = open();
  await start(old);
  assert.notEqual(old.store.database.log.fence('desk'), null);
  old.close();

  const app = open({ LOG_ORIGIN: 'papers.example/log-2' });
  assert.throws(() => app.signer.open(), /is that of papers\.example\/log, but LOG_ORIGIN is papers\.example\/log-2/);
  renameSync(logKeyFile(app.settings, 'desk'), join(folder, 'old.key'));
  const unnamed = open();
  await start(unnamed);
  assert.notEqual(unnamed.store.database.log.fence('desk'), null, 'without a new name it is the same log');
  await start(app);
  assert.equal(app.store.database.log.fence('desk'), null);
  file(app, 'another-two');
  await publish(app);
  const size = app.store.database.log.size('desk');
  assert.deepEqual(app.store.database.log.newestHead('desk', 'papers.example/log-2')?.size, size);
});

test('a diverged copy is found by the published checkpoint', async (t) => {
  const { open, copy } = deskIn(t);
  const first = open();
  createPaper(first);
  first.close();
  copy('var', 'copy');
  const second = open();
  file(second, 'one');
  await publish(second);
  second.close();
  copy('var', 'other');
  copy('copy', 'var');
  cpSync(join(second.settings.dataDir, '../other/log.key'), join(second.settings.dataDir, 'log.key'));
  const third = open();
  file(third, 'two');
  third.signer.open();
  assert.match(
    third.store.database.log.fence('desk') ?? '',
    /has 2 leaves here, and the first 2 are not those of its published/,
  );
});

test('leaves without a head after a power failure match the published checkpoint', async (t) => {
  const { open } = deskIn(t);
  const app = open();
  createPaper(app);
  file(app, 'one');
  const key = openLogKey(app, 'desk');
  const size = app.store.database.log.size('desk');
  const log = new MemoryLog(key.origin);
  log.append(app.store.database.log.entries('desk', 0, size));
  const root = log.tree().root();
  const folder = join(app.settings.logDir, 'desk');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'checkpoint'), signNote(checkpointText({ origin: key.origin, size, root }), key.signer));
  app.signer.open();
  assert.equal(app.store.database.log.fence('desk'), null);
});

test('a witness’s reported size is remembered, and one reported at startup counts', async (t) => {
  const { folder, open } = deskIn(t);
  const policy = join(folder, 'policy');
  const { vkey } = ed25519Witness('witness.example/w1', 4);
  writeFileSync(policy, `witness w1 ${vkey} https://witness.example/\nquorum w1\n`);
  const app = open({ LOG_POLICY: policy });
  createPaper(app);
  file(app, 'one');
  await publish(app);
  const tables = app.store.database.log;
  await checkFence(app, 'desk', async () => 'w1 has seen another tree');
  assert.equal(tables.fence('desk'), 'w1 has seen another tree');
  await start(app);
  assert.equal(tables.fence('desk'), null);
  const state = tables.witness('desk', 'papers.example/log', vkey);
  app.store.database.transact(() => tables.setWitness('desk', 'papers.example/log', { ...state, seen_size: 1_340 }));
  await start(app);
  assert.match(tables.fence('desk') ?? '', /has 2 leaves here, and witness w1 has seen 1,340; restore the newest copy/);
});

test('while the log of the records is fenced no observation is signed, and stories are', async (t) => {
  const { clock, open } = deskIn(t);
  const app = open();
  createPaper(app);
  const names = ['harbor.example'];
  app.store.records.watch(names.map(parseHostname), clock.now);
  app.store.database.transact(() => app.store.database.log.setFence('records', 'an old copy'));
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames(names)?.lease ?? '';
  const looks = [probe('harbor.example', clock.now, { A: ['192.0.2.1'] })];
  await assert.rejects(async () => queue.submit(lease, looks), { code: 'unavailable', message: /an old copy/ });
  assert.equal(app.store.records.lastProbeAt(), null);
  file(app, 'one');
  app.store.database.transact(() => app.store.database.log.setFence('records', null));
  await queue.submit(lease, looks);
  assert.equal(app.store.records.lastProbeAt(), clock.now);
});

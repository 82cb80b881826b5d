import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { isSignedBy } from '../../src/proof/keyring.ts';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import type { AppContext } from '../../src/server/context.ts';
import { databaseFile, signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { logKeyFile, openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { appContextIn, createPaper, tempFolder, treeOf } from '../support/app-context.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { growLog, testLeaf } from '../support/log-leaves.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const ORIGINS = { ORIGIN: 'https://papers.example', DATA_ORIGIN: 'https://records.example:8443' };

function appIn(t: TestContext, more: Record<string, string> = {}) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  return { folder, clock, app: appContextIn(t, folder, clock, { ...ORIGINS, ...more }) };
}

/** Signs a head over all leaves. */
function sign(app: AppContext): void {
  for (;;) if (signHead(app, 'records', openLogKey(app, 'records')) !== 'more') return;
}

const publish = (app: AppContext, isWhole = false) =>
  publishLog(app, 'records', openLogKey(app, 'records'), { isWhole, assertHeld: () => {} });

/** The published files of the records' log, without the two that do not grow. */
function filesOf(folder: string): Map<string, string> {
  const files = treeOf(join(folder, 'log/records'));
  for (const name of ['policy', 'vkey']) assert.ok(files.delete(name), `there is a ${name}`);
  return files;
}

/** What the files are, built in memory: paths of the newest tree, and the root. */
function expected(size: number): MemoryLog {
  const log = new MemoryLog('records.example:8443/log');
  log.append(Array.from({ length: size }, (_, at) => testLeaf(at)));
  return log;
}

test('for any arrival of leaves, heads match the tree, and files match tlog-tiles', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 }), async (batches) => {
      const { app, folder } = appIn(t);
      const key = openLogKey(app, 'records');
      let size = 0;
      for (const [number, batch] of batches.entries()) {
        size += batch;
        growLog(app, 'records', size);
        sign(app);
        const head = app.store.database.log.newestHead('records', key.origin);
        const checkpoint = parseCheckpoint(head?.checkpoint ?? '');
        assert.deepEqual([checkpoint.size, head?.number, head?.cosigned], [size, number + 1, null]);
        assert.deepEqual(checkpoint.root, expected(size).tree().root());
        assert.ok(isSignedBy(checkpoint.note, key.signer, verifyNode));
        if (number % 2 === 0) await publish(app);
      }
      await publish(app);
      const files = filesOf(folder);
      assert.equal(
        files.get('checkpoint'),
        Buffer.from(app.store.database.log.newestHead('records', key.origin)?.checkpoint ?? '').toString('latin1'),
      );
      for (const [path, bytes] of expected(size).files) {
        assert.equal(files.get(path), Buffer.from(bytes).toString('latin1'), path);
      }
      // A partial tile goes once the full one is there.
      for (const path of files.keys()) assert.ok(!/\.p\//.test(path) || !files.has(path.replace(/\.p\/.*/, '')), path);
    }),
    { numRuns: 12 },
  );
});

test('a head is signed only for new leaves, and never dated before the previous one', (t) => {
  const { app, clock } = appIn(t);
  const head = () => app.store.database.log.newestHead('records', 'records.example:8443/log');
  sign(app);
  assert.equal(head(), null, 'an empty log has no head');
  growLog(app, 'records', 3);
  sign(app);
  sign(app);
  assert.deepEqual([head()?.number, head()?.size, head()?.signed_at], [1, 3, NOON]);
  clock.now = NOON - 86_400_000;
  growLog(app, 'records', 4);
  sign(app);
  assert.deepEqual([head()?.number, head()?.size, head()?.signed_at], [2, 4, NOON]);
});

test('a damaged or missing tree is restored from the database', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder } = appIn(t);
  growLog(app, 'records', 70_000);
  sign(app);
  await publish(app);
  const whole = treeOf(join(folder, 'log/records'));
  const at = (path: string) => join(folder, 'log/records', path);
  writeFileSync(at('tile/0/007'), 'nonsense');
  rmSync(at('tile/entries/100'));
  rmSync(at('tile/1'), { recursive: true });
  rmSync(at('policy'));
  await publish(app, true);
  assert.deepEqual(treeOf(join(folder, 'log/records')), whole);
  rmSync(join(folder, 'log'), { recursive: true });
  await publish(app);
  assert.deepEqual(treeOf(join(folder, 'log/records')), whole);
  // Someone else's checkpoint is not gone on from.
  writeFileSync(at('checkpoint'), new MemoryLog('records.example:8443/log').checkpoint(0));
  rmSync(at('tile/0/000'));
  await publish(app);
  assert.deepEqual(treeOf(join(folder, 'log/records')), whole);
});

test('the checkpoint is the newest cosigned head once there is one, and never shrinks', async (t) => {
  const file = join(tempFolder(t), 'policy');
  const witness = ed25519Witness('witness.example/w1', 4);
  writeFileSync(file, `witness w1 ${witness.vkey} https://witness.example/\nquorum w1\n`);
  const { app, folder } = appIn(t, { LOG_POLICY: file });
  const published = () => readFileSync(join(folder, 'log/records/checkpoint'), 'utf8');
  const origin = 'records.example:8443/log';
  const heads = [10, 20, 30].map((size) => {
    growLog(app, 'records', size);
    sign(app);
    return app.store.database.log.newestHead('records', origin)?.checkpoint ?? '';
  });
  const [first = '', second = '', third = ''] = heads.map((head) => witness.cosign(head, 1_700_000_000));
  await publish(app);
  assert.equal(published(), heads[2], 'nothing was cosigned yet');
  app.store.database.log.setCosigned('records', origin, 10, first);
  app.store.database.log.setCosigned('records', origin, 20, second);
  await publish(app);
  assert.equal(published(), heads[2]);
  app.store.database.log.setCosigned('records', origin, 30, third);
  await publish(app);
  assert.equal(published(), third);
  growLog(app, 'records', 300);
  sign(app);
  await publish(app);
  assert.equal(published(), third);
  assert.ok(!existsSync(join(folder, 'log/records/tile/0/000')));
  const policy = readFileSync(join(folder, 'log/records/policy'), 'utf8');
  const { vkey } = openLogKey(app, 'records');
  assert.equal(
    policy,
    `log ${vkey} https://records.example:8443/log/\nwitness w1 ${witness.vkey} https://witness.example/\nquorum w1\n`,
  );
  assert.equal(readFileSync(join(folder, 'log/records/vkey'), 'utf8'), `${vkey}\n`);
});

test('a log keeps the name in its key file, and another key under that name is refused', (t) => {
  const { app, folder, clock } = appIn(t);
  const { origin, vkey } = openLogKey(app, 'desk');
  const file = logKeyFile(app.settings, 'desk');
  assert.equal(origin, 'papers.example/log');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.notEqual(openLogKey(app, 'records').vkey, vkey);

  const elsewhere = appContextIn(t, folder, clock, { ...ORIGINS, ORIGIN: 'https://moved.example' });
  assert.deepEqual(openLogKey(elsewhere, 'desk').vkey, vkey, 'another address is not another log');
  const renamed = appContextIn(t, folder, clock, { ...ORIGINS, LOG_ORIGIN: 'papers.example/two' });
  assert.throws(() => openLogKey(renamed, 'desk'), {
    code: 'unavailable',
    message: `the log key file ${file} is that of papers.example/log, but LOG_ORIGIN is papers.example/two; set LOG_ORIGIN=papers.example/log to go on with that log, or move the file away to begin a new log of the same leaves`,
  });

  app.store.database.transact(() => app.store.database.log.append('desk', testLeaf(1)));
  signHead(app, 'desk', openLogKey(app, 'desk'));
  const before = readFileSync(file);
  rmSync(file);
  assert.throws(() => openLogKey(app, 'desk'), /does not hold the key that signed the log papers\.example\/log so far/);
  assert.equal(openLogKey(renamed, 'desk').origin, 'papers.example/two');
  signHead(renamed, 'desk', openLogKey(renamed, 'desk'));
  assert.equal(
    app.store.database.log.newestHead('desk', 'papers.example/two')?.size,
    1,
    'a new log of the same leaves',
  );
  writeFileSync(file, before);
  assert.equal(openLogKey(app, 'desk').vkey, vkey);
});

test('the log key differs from the key that signs receipts', (t) => {
  const { app } = appIn(t, { LOG_ORIGIN: 'papers.example/door' });
  createPaper(app);
  writeFileSync(logKeyFile(app.settings, 'desk'), readFileSync(signingKeyFile(app.settings)));
  assert.throws(() => openLogKey(app, 'desk'), /holds \S+, a key that signs receipts; move the file away to have/);
});

test('altered leaves in the database get no head', (t) => {
  const { app } = appIn(t);
  growLog(app, 'records', 300);
  sign(app);
  const database = new DatabaseSync(databaseFile(app.settings), { timeout: 10_000 });
  database.exec('DROP TRIGGER log_leaves_fixed; UPDATE log_leaves SET hash = zeroblob(32) WHERE leaf_index = 299');
  database.close();
  growLog(app, 'records', 301);
  sign(app);
  assert.equal(app.store.database.log.newestHead('records', 'records.example:8443/log')?.size, 300);
  assert.match(
    app.store.database.log.fence('records') ?? '',
    /^the leaves of the log records\.example:8443\/log are not the 300 over which .*; restore .* RECORDS_LOG_ORIGIN to/,
  );
});

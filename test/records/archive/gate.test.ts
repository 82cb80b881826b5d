import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { examine } from '../../../src/operate/doctor/examine.ts';
import { DAY } from '../../../src/proof/time.ts';
import { lookAtArchive } from '../../../src/records/jobs/archive-look.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { localQueue } from '../../../src/records/jobs/local-queue.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { parseAddress, type S3Address } from '../../../src/shared/storage/address.ts';
import { type ArchivePlace, archivePlace } from '../../../src/shared/storage/archive-place.ts';
import { S3Bucket } from '../../../src/shared/storage/s3-bucket.ts';
import { signingState } from '../../../src/signing/signing-state.ts';
import { appContextIn, type Clock, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, NOON, observeDays } from '../../support/archive.ts';
import { probe } from '../../support/probes.ts';
import { BUCKET, CREDENTIALS, type Intercept, refuse, S3Server } from '../../support/s3-server.ts';

// An older copy of a database, and an archive that has numbers which it would give again: nothing that a place may do
// makes it sign one.

const DAYS = 3;
const END = NOON + (DAYS + 2) * DAY;
/** The older copy, the newest one, and the archive of the newest as a folder. */
let [older, newest, archive] = ['', '', ''];

const scope = fileScope();
before(async () => {
  const folder = tempFolder(scope);
  [older, newest, archive] = [tempFolder(scope), join(folder, 'var'), join(folder, 'archive')];
  const clock = { now: NOON };
  const app = appContextIn(scope, folder, clock);
  observeDays(app, clock, DAYS);
  app.store.database.emptyWal();
  cpSync(newest, older, { recursive: true });
  observeDays(app, clock, 1);
  clock.now = END;
  await archiveAll(app, folderPlace(archive));
  app.store.database.emptyWal();
  app.close();
});

function opened(t: Scope, from: string, archiveUrl: string): { app: AppContext; clock: Clock; folder: string } {
  const folder = tempFolder(t);
  cpSync(from, join(folder, 'var'), { recursive: true });
  const clock = { now: END };
  return { app: appContextIn(t, folder, clock, { ARCHIVE_URL: archiveUrl }), clock, folder };
}

/** The archive in a bucket. */
async function bucketOf(t: TestContext): Promise<{ store: S3Server; place: ArchivePlace }> {
  const store = await S3Server.start(t);
  const url = `s3://${BUCKET}/records?endpoint=${store.endpoint}`;
  const bucket = new S3Bucket(parseAddress(url) as S3Address, CREDENTIALS, async () => {});
  const place = archivePlace(bucket, bucket, 'records/');
  const from = folderPlace(archive);
  for await (const { key } of from.list('')) await place.put(key, (await from.get(key))?.bytes ?? assert.fail(key));
  return { store, place };
}

/** Whether a process signs an observation now. */
async function signs({ app, clock }: { app: AppContext; clock: Clock }): Promise<boolean> {
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames(['a.example'])?.lease ?? '';
  const said = await queue.submit(lease, [probe('a.example', clock.now, { A: ['192.0.2.9'] })]).catch(() => []);
  return said[0]?.outcome === 'recorded';
}

const MANIFEST = 'records/manifest.json';
const answering =
  (work: Intercept): Intercept =>
  (request, response, raw) => {
    raw.resume();
    return work(request, response, raw);
  };

/** What a place may answer, and how the look at it ends. */
const BAD: Record<string, [damage: (store: S3Server) => void, says: RegExp]> = {
  'answers 503': [
    (store) => {
      store.intercept = answering((_, response) => {
        response.writeHead(503).end();
        return true;
      });
    },
    /failed \(status 503\)/,
  ],
  'closes the connection': [
    (store) => {
      store.intercept = (_, response) => {
        response.destroy();
        return true;
      };
    },
    /cannot be reached/,
  ],
  'has half of the manifest': [
    (store) => {
      const item = store.objects.get(MANIFEST) ?? assert.fail();
      item.bytes = item.bytes.subarray(0, item.bytes.length >> 1);
    },
    /manifest\.json in .*: it is not JSON/,
  ],
  'has an empty manifest': [
    (store) => {
      (store.objects.get(MANIFEST) ?? assert.fail()).bytes = Buffer.alloc(0);
    },
    /it is not JSON/,
  ],
  'has the manifest of another service': [
    (store) => {
      const item = store.objects.get(MANIFEST) ?? assert.fail();
      item.bytes = Buffer.from(item.bytes.toString().replace(/kid [\w-]{43}/, `kid ${'k'.repeat(43)}`));
    },
    /none of this desk’s keys has signed it/,
  ],
  'has a manifest that says less than was signed': [
    (store) => {
      const item = store.objects.get(MANIFEST) ?? assert.fail();
      item.bytes = Buffer.from(item.bytes.toString().replace('through 12', 'through 9'));
    },
    /none of this desk’s keys has signed it/,
  ],
  'gives nothing for what it lists, as a proxy does': [
    (store) => {
      store.intercept = answering(({ method, key }, response) => {
        if (method === 'GET' && key === MANIFEST) response.writeHead(404).end();
        return method === 'GET' && key === MANIFEST;
      });
    },
    /lists manifest\.json, and does not give it/,
  ],
  'may not be listed': [
    (store) => {
      store.objects.delete(MANIFEST);
      store.intercept = answering(({ key }, response) => {
        if (key === '') refuse(response, 403, 'AccessDenied');
        return key === '';
      });
    },
    /the credentials may not/,
  ],
  'has no such bucket': [
    (store) => {
      store.intercept = answering((_, response) => {
        refuse(response, 404, 'NoSuchBucket');
        return true;
      });
    },
    /there is no bucket/,
  ],
};

test('an older copy signs nothing, whatever the place of the archive answers, and says why', async (t) => {
  const copy = opened(t, older, '');
  copy.app.signer.open();
  copy.app.signer.knowsArchive = false;
  for (const [what, [damage, says]] of Object.entries(BAD)) {
    const { store, place } = await bucketOf(t);
    damage(store);
    await assert.rejects(lookAtArchive(copy.app, place), says, what);
    assert.equal(signingState(copy.app, 'records').why, 'archive', what);
    assert.equal(await signs(copy), false, what);
  }
  const { place } = await bucketOf(t);
  await lookAtArchive(copy.app, place);
  assert.equal(signingState(copy.app, 'records').why, 'fenced');
  assert.equal(await signs(copy), false);
  assert.equal(copy.app.store.records.nextSeq(), DAYS * 3 + 1);
});

test('a place that takes connections and is silent is given up after 30 seconds a try', async (t) => {
  const copy = opened(t, older, '');
  const { store, place } = await bucketOf(t);
  store.intercept = () => true;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let said: string | null = null;
  copy.app.signer.knowsArchive = false;
  const looking = lookAtArchive(copy.app, place).catch((error: unknown) => {
    said = String(error);
  });
  let waited = 0;
  const { received } = store;
  for (let tried = received.length; said === null; ) {
    await turn();
    if (received.length === tried) continue;
    tried = received.length;
    t.mock.timers.tick(31_000);
    waited += 31;
  }
  await looking;
  assert.match(said, /cannot be reached \(it does not answer\)/);
  assert.ok(waited <= 8 * 31, `${waited} seconds`);
  assert.equal(copy.app.signer.knowsArchive, false);
});

test('a folder whose disk is not mounted is no empty archive, and nobody makes one there', async (t) => {
  const folder = join(tempFolder(t), 'archive');
  const copy = opened(t, older, folder);
  copy.app.signer.open();
  await assert.rejects(lookAtArchive(copy.app), /there is no folder .*; create it, or mount its disk/);
  await assert.rejects(runArchiver(copy.app, 0), /there is no folder/);
  assert.equal(existsSync(folder), false);
  assert.equal(await signs(copy), false);
  const findings = await examine(() => copy.app.settings);
  assert.match(JSON.stringify(findings.find(({ name }) => name === 'archive')), /there is no folder/);
  cpSync(archive, folder, { recursive: true });
  await assert.rejects(runArchiver(copy.app, 0), /the archive has 12 observations, and this database 9|older copy/);
  assert.equal(await signs(copy), false);
});

test('two processes that start at once, and a place that goes away after that', async (t) => {
  const folder = join(tempFolder(t), 'archive');
  cpSync(archive, folder, { recursive: true });
  const one = opened(t, newest, folder);
  const two = { ...one, app: appContextIn(t, one.folder, one.clock, { ARCHIVE_URL: folder }) };
  for (const { app } of [one, two]) app.signer.open();
  await Promise.all([lookAtArchive(one.app), lookAtArchive(two.app)]);
  renameSync(folder, `${folder}.away`);
  assert.deepEqual([await signs(one), await signs(two)], [true, true], 'what it has is known by now');
  mkdirSync(folder);
  await assert.rejects(runArchiver(two.app, 0), /has no manifest\.json, and this database has archived/);
});

test('a copy that was fenced stays so where the bucket is an older one too', async (t) => {
  const { place, store } = await bucketOf(t);
  const copy = opened(t, older, '');
  copy.app.signer.open();
  copy.app.signer.knowsArchive = false;
  await lookAtArchive(copy.app, place);
  store.objects.delete(MANIFEST);
  const again = appContextIn(t, copy.folder, copy.clock);
  again.signer.open();
  again.signer.knowsArchive = false;
  await lookAtArchive(again, place).catch(() => {});
  assert.equal(await signs({ ...copy, app: again }), false);
});

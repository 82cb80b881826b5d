import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { readSettings } from '../../../src/server/env.ts';
import { parseAddress, type S3Address } from '../../../src/shared/storage/address.ts';
import { archivePlace, openArchivePlace, SEEDS } from '../../../src/shared/storage/archive-place.ts';
import { S3Bucket } from '../../../src/shared/storage/s3-bucket.ts';
import { appContextIn, envIn, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, NOON, observeDays } from '../../support/archive.ts';
import { without } from '../../support/log-peers.ts';
import { PROGRAM, until } from '../../support/program.ts';
import { BUCKET, CREDENTIALS, S3Server, startVersitygw, storeEnv } from '../../support/s3-server.ts';
import { serveHere } from '../../support/serve-here.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const DAYS = 4;
let model = '';

const scope = fileScope();
before(() => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock);
  observeDays(app, clock, DAYS);
  app.close();
});

const urlAt = (endpoint: string) => `s3://${BUCKET}/records?endpoint=${endpoint}`;

function opened(t: Scope, endpoint: string): AppContext {
  const folder = tempFolder(t);
  cpSync(join(model, 'var'), join(folder, 'var'), { recursive: true });
  const env = { ...storeEnv(endpoint), PUBLISH_URL: '', ARCHIVE_URL: urlAt(endpoint) };
  return appContextIn(t, folder, { now: NOON + DAYS * DAY }, env);
}

async function requireSound(app: AppContext): Promise<void> {
  assert.equal(app.store.records.archive.through(), app.store.records.nextSeq() - 1);
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
}

test('versitygw holds an archive', { skip: ONLY_WIDE || without('versitygw') }, async (t) => {
  const app = opened(t, await startVersitygw(t, tempFolder(t)));
  assert(app.archive);
  await archiveAll(app, app.archive);
  await requireSound(app);
  assert.ok(await app.archive.etag('observations/month=2026-10/bucket=b/data.parquet'));
});

test('a store that fails, answers cut short, or stored what it says that it refused, loses nothing', async (t) => {
  const store = await S3Server.start(t);
  const app = opened(t, store.endpoint);
  const address = parseAddress(urlAt(store.endpoint)) as S3Address;
  const bucket = new S3Bucket(address, CREDENTIALS, async () => {});
  let n = 0;
  let failures = 0;
  store.intercept = (request, response, raw) => {
    n++;
    const fail = (work: () => void): boolean => {
      failures++;
      raw.resume();
      work();
      return true;
    };
    if (n % 5 === 0) return fail(() => response.writeHead(500).end());
    if (n % 7 === 0) return fail(() => response.socket?.destroy());
    const item = store.objects.get(request.key);
    if (n % 11 === 0 && request.method === 'GET' && item !== undefined) {
      return fail(() => {
        response.writeHead(200, { etag: `"${item.etag}"`, 'content-length': item.bytes.length });
        response.write(item.bytes.subarray(0, item.bytes.length >> 1), () => response.socket?.destroy());
      });
    }
    // Stored, and the answer is lost: the same request again finds another object there.
    if (n % 13 === 0 && request.method === 'PUT' && request.key.endsWith('manifest.json')) {
      response.writeHead = () => response.destroy() as never;
    }
    return false;
  };
  const place = archivePlace(bucket, bucket, address.prefix);
  await archiveAll(app, place);
  assert.ok(failures > 20, String(failures));
  store.intercept = () => false;
  await requireSound(app);
});

test('an archive that is away says so, and the database keeps everything', async (t) => {
  const app = opened(t, 'http://127.0.0.1:9');
  const bucket = new S3Bucket(parseAddress(urlAt('http://127.0.0.1:9')) as S3Address, CREDENTIALS, async () => {});
  await assert.rejects(archiveAll(app, archivePlace(bucket, bucket, 'records/')), /cannot be reached/);
  assert.equal(app.store.records.archive.newest(), null);
});

test('a server of an older copy reads, and signs no observation while the archive is away, nor then', async (t) => {
  const store = await S3Server.start(t);
  const env = { ...storeEnv(store.endpoint), PUBLISH_URL: '', ARCHIVE_URL: urlAt(store.endpoint), SCANNER: 'off' };
  const [folder, copy] = [tempFolder(t), tempFolder(t)];
  const clock = { now: Math.floor(Date.now() / DAY) * DAY - 5 * DAY };
  const app = appContextIn(t, folder, clock, env);
  assert(app.archive);
  observeDays(app, clock, 1);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  clock.now += DAY;
  observeDays(app, clock, 1);
  clock.now += 2 * DAY;
  await archiveAll(app, app.archive);
  assert.equal(app.store.records.archive.through(), 6);

  let isAway = true;
  store.intercept = (_, response, request) => {
    if (isAway) request.resume().on('end', () => response.writeHead(503).end());
    return isAway;
  };
  const { records } = await serveHere(t, copy, env);
  const signing = async () => ((await (await fetch(`${records}/health`)).json()) as Health).signing;
  assert.equal((await signing()).why, 'archive');
  assert.equal((await fetch(`${records}/v1/domains/a.example`)).status, 200, 'reads go on');
  isAway = false;
  await until(async () => (await signing()).why === 'fenced' || null);
});

interface Health {
  signing: { why: string | null };
}

test('seeds are written and read with their own credentials, and a half of these is refused', async (t) => {
  const store = await S3Server.start(t);
  const seeds = new Set<string>();
  const others = new Set<string>();
  store.intercept = ({ key }, _, { headers }) => {
    const isOfSeeds = headers.authorization?.includes('Credential=seeds/') === true;
    if (key.startsWith(`records/${SEEDS}`)) seeds.add(String(isOfSeeds));
    else if (key !== '') others.add(String(isOfSeeds));
    return false;
  };
  const folder = tempFolder(t);
  const env = {
    ...envIn(folder, storeEnv(store.endpoint)),
    ...{ PUBLISH_URL: '', ARCHIVE_URL: urlAt(store.endpoint) },
    ...{ ARCHIVE_SEEDS_ACCESS_KEY_ID: 'seeds', ARCHIVE_SEEDS_SECRET_ACCESS_KEY: 'other' },
  };
  const place = openArchivePlace(readSettings(env));
  assert(place);
  await place.put('observations/a', Buffer.from('a'));
  // The store knows the other key alone.
  await assert.rejects(place.put('seeds/a', Buffer.from('a')));
  assert.deepEqual([seeds, others], [new Set(['true']), new Set(['false'])]);
  const { ARCHIVE_SEEDS_SECRET_ACCESS_KEY: _, ...half } = env;
  assert.throws(
    () => readSettings(half),
    /ARCHIVE_SEEDS_ACCESS_KEY_ID=seeds: must be set together with ARCHIVE_SEEDS_SECRET_ACCESS_KEY/,
  );
  for (const url of [join(folder, 'var/archive'), folder]) {
    assert.throws(
      () => openArchivePlace(readSettings({ ...env, ARCHIVE_URL: url })),
      /must not hold or be within DATA_DIR/,
    );
  }
  const published = readSettings({ ...env, PUBLISH_URL: urlAt(store.endpoint) });
  assert.throws(() => openArchivePlace(published), /the bucket of PUBLISH_URL/);
});

test('processes that are killed at any moment leave an archive that is sound', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  cpSync(join(model, 'var'), join(folder, 'var'), { recursive: true });
  const more = { ARCHIVE_URL: join(folder, 'archive') };
  mkdirSync(more.ARCHIVE_URL);
  const env = { ...process.env, ...envIn(folder, more) };
  let kills = 0;
  for (let wait = 600; ; wait += 150) {
    const child = spawn(process.execPath, [PROGRAM, 'archive', 'run'], { env, stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), wait);
    const code = await ended;
    clearTimeout(timer);
    if (code === 0) break;
    assert.equal(code, null, 'it fails by itself');
    kills++;
    if (wait > 20_000) throw new Error('it does not come to an end');
    // The lease of a killed process ends by itself.
    await new Promise((resolve) => setTimeout(resolve, 10_500));
  }
  t.diagnostic(`${kills} kills`);
  await requireSound(appContextIn(t, folder, { now: Date.now() }, more));
});

import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import sharp from 'sharp';
import { append } from '../../src/desk/append.ts';
import { startMediaCopies } from '../../src/desk/jobs/media-job.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { openMediaStore } from '../../src/desk/media/missing-media.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { mediaKey } from '../../src/media/media.ts';
import { checkMedia } from '../../src/operate/doctor/desk.ts';
import type { AppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { appContextIn, createPaper, envIn, PAPER, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { run, until } from '../support/program.ts';
import { BUCKET, refuse, S3Server, startVersitygw, storeEnv } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
const silent = pino({ level: 'silent' });

async function file(app: AppContext, path: string, red: number): Promise<string> {
  const bytes = await sharp({ create: { width: 60, height: 40, channels: 3, background: { r: red, g: 0, b: 0 } } })
    .jpeg()
    .toBuffer();
  const body = await inspectMedia(path, bytes);
  app.store.media.keepBytes(body.digest, bytes);
  const entry = { type: 'record', at: clock.now, paper: PAPER, kind: 'media', name: path, body } as const;
  app.store.database.transact(() => append(app.store.desk, entry));
  return body.digest;
}

function jobOf(t: TestContext, app: AppContext, logger = silent): () => Promise<void> {
  const stop = startMediaCopies(app, logger);
  t.after(stop);
  return stop;
}

/** A copy of a desk without its media, as of a database that was shipped by itself. */
function copyWithoutMedia(t: TestContext, folder: string, env: Record<string, string>): AppContext {
  const other = tempFolder(t);
  cpSync(join(folder, 'var'), join(other, 'var'), { recursive: true });
  for (const gone of ['media', 'pictures']) rmSync(join(other, 'var', gone), { recursive: true, force: true });
  return appContextIn(t, other, clock, env);
}

const STORES = { 'a folder': false, 'our own store': false, versitygw: ONLY_WIDE || without('versitygw') } as const;
for (const [kind, skip] of Object.entries(STORES)) {
  test(`${kind} gets a picture when it is filed, and a press without it takes it from there`, { skip }, async (t) => {
    const [folder, bucket] = [tempFolder(t), tempFolder(t)];
    const env: Record<string, string> = { MEDIA_URL: join(bucket, 'kept') };
    if (kind !== 'a folder') {
      const endpoint = kind === 'versitygw' ? await startVersitygw(t, bucket) : (await S3Server.start(t)).endpoint;
      const { PUBLISH_URL: _, ...access } = storeEnv(endpoint);
      Object.assign(env, access, { MEDIA_URL: `s3://${BUCKET}/kept` });
    }
    const app = appContextIn(t, folder, clock, env);
    // Nobody else publishes what is private, or not on air yet.
    createPaper(app, { paper_public: false });
    const first = await file(app, 'media/first.jpg', 10);
    const stop = jobOf(t, app);
    const store = openMediaStore(app.settings);
    await until(async () => ((await store?.get(first)) ? true : null));
    const second = await file(app, 'media/second.jpg', 20);
    await until(async () => ((await store?.get(second)) ? true : null));
    assert.deepEqual(await store?.digests(), new Set([first, second]));
    assert.equal((await checkMedia(app.settings, app)).found.replace(/^.* has/, 'has'), 'has 2 media files');
    await stop();
    const paper = { ...(app.store.desk.record(PAPER, 'paper', '') as object), paper_public: true };
    const entry = { type: 'record', at: clock.now, paper: PAPER, kind: 'paper', name: '', body: paper } as const;
    app.store.database.transact(() => append(app.store.desk, entry));

    const copy = copyWithoutMedia(t, folder, env);
    assert.deepEqual((await pressPapers(copy)).get(PAPER)?.missing, []);
    for (const digest of [first, second]) {
      assert.deepEqual(readFileSync(copy.store.media.pathOf(digest)), readFileSync(app.store.media.pathOf(digest)));
    }
  });
}

test('a place that answers no more holds up no press, and gets everything when it is back', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const server = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(server.endpoint);
  const env = { ...access, MEDIA_URL: `s3://${BUCKET}/kept` };
  const app = appContextIn(t, folder, clock, env);
  createPaper(app);
  const digest = await file(app, 'media/first.jpg', 10);
  let isDead = true;
  server.intercept = (_request, response) => {
    if (isDead) refuse(response, 403, 'AccessDenied');
    return isDead;
  };
  const said: string[] = [];
  jobOf(t, app, pino({ level: 'error' }, { write: (line: string) => void said.push(line) }));
  await until(() => (said.some((line) => line.includes('media files could not be copied to MEDIA_URL')) ? true : null));
  const copy = copyWithoutMedia(t, folder, env);
  assert.deepEqual((await pressPapers(copy)).get(PAPER)?.missing, ['media/first.jpg']);
  assert.match(
    (await checkMedia(copy.settings, copy)).found,
    /stand-in for harbor-ledger\/media\/first\.jpg: DATA_DIR/,
  );
  isDead = false;
  await until(() => server.bytes(`kept/${mediaKey(digest)}`) ?? null);
  assert.deepEqual((await pressPapers(copy, { fetchesMedia: true })).get(PAPER)?.missing, []);

  // What was altered there is no help.
  const other = copyWithoutMedia(t, folder, env);
  const key = `kept/${mediaKey(digest)}`;
  const item = server.objects.get(key);
  assert.ok(item);
  server.objects.set(key, { ...item, bytes: Buffer.from('something else') });
  assert.deepEqual((await pressPapers(other)).get(PAPER)?.missing, ['media/first.jpg']);
  assert.ok(!existsSync(other.store.media.pathOf(digest)));
});

test('a place that readers see, or that is lost with DATA_DIR, is refused', (t) => {
  const folder = tempFolder(t);
  const open = (env: Record<string, string>) => openMediaStore(readSettings(envIn(folder, env)));
  assert.throws(
    () => open({ ...storeEnv('http://127.0.0.1:1'), MEDIA_URL: `s3://${BUCKET}/kept` }),
    /^Fault: MEDIA_URL=s3:\/\/papers\/kept: must not be in papers, the bucket of PUBLISH_URL, which readers see/,
  );
  assert.throws(() => open({ MEDIA_URL: join(folder, 'var/kept') }), /must not be within DATA_DIR/);
  assert.throws(() => readSettings(envIn(folder, { MEDIA_URL: 'ftp://x/y' })), /MEDIA_URL/);
});

test('filing a picture again restores its bytes, and press and doctor name missing files', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  cpSync(join(PROJECT, 'content/the-leading-light'), join(folder, 'content/the-leading-light'), { recursive: true });
  const first = await run(t, folder, ['file', '--no-press']);
  assert.equal(first.code, 0, first.stderr);
  rmSync(join(folder, 'var/media'), { recursive: true });
  const lost = await run(t, folder, ['doctor']);
  assert.match(
    lost.stdout,
    /FAULT media: DATA_DIR lacks the bytes of the-leading-light\/.* more, and nothing was pressed/,
  );
  const before = await run(t, folder, ['audit']);
  assert.match(
    before.stdout,
    /media\/\S+: its bytes in DATA_DIR are missing, and the next press shows a stand-in unless/,
  );
  const again = await run(t, folder, ['press', '--no-cards']);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /^missing the-leading-light\/media\/\S+: its bytes are not in DATA_DIR/m);
  assert.ok(existsSync(join(folder, 'papers/the-leading-light/index.html')));
  assert.match(
    (await run(t, folder, ['press', '--no-cards'])).stdout,
    /missing the-leading-light/,
    'also when nothing is left to press',
  );
  const audit = await run(t, folder, ['audit']);
  assert.equal(audit.code, 1);
  assert.match(audit.stdout, /the-leading-light\/media\/\S+: its bytes in DATA_DIR are missing.*put .* back/);
  const doctor = await run(t, folder, ['doctor']);
  assert.match(doctor.stdout, /FAULT media: readers see a stand-in for .* more: DATA_DIR lacks the bytes/);
  const filed = await run(t, folder, ['file']);
  assert.equal(filed.code, 0, filed.stderr);
  assert.doesNotMatch(filed.stdout, /missing/);
  const whole = await run(t, folder, ['audit']);
  assert.equal(whole.code, 0, whole.stdout);
});

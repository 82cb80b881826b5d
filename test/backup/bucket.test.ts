import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { readSettings } from '../../src/server/env.ts';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { S3Bucket } from '../../src/shared/storage/s3-bucket.ts';
import { readLarge, writeLarge } from '../../src/shared/storage/s3-large.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { run } from '../support/program.ts';
import { BUCKET, CREDENTIALS, refuse, S3Server, startVersitygw, storeEnv } from '../support/s3-server.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { AT, faultOf } from './backups.ts';

function bucketAt(endpoint: string, { bucket = BUCKET, credentials = CREDENTIALS } = {}) {
  const pauses: number[] = [];
  const address = parseAddress(`s3://${bucket}?endpoint=${endpoint}`) as S3Address;
  return { bucket: new S3Bucket(address, credentials, async (ms) => void pauses.push(ms)), pauses };
}

async function* chunksOf(bytes: Buffer): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 999_983) yield bytes.subarray(at, at + 999_983);
}

async function bytesOf(content: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const LARGE = randomBytes(17_000_000);

for (const [kind, skip] of Object.entries({
  'our own store': false,
  versitygw: ONLY_WIDE || without('versitygw'),
} as const)) {
  test(`${kind} takes an object in parts, and gives it in ranges`, { skip }, async (t) => {
    const endpoint = kind === 'versitygw' ? await startVersitygw(t, tempFolder(t)) : (await S3Server.start(t)).endpoint;
    const { bucket } = bucketAt(endpoint);
    assert.equal(await readLarge(bucket, 'b/none'), null);
    assert.equal(await writeLarge(bucket, 'b/one', chunksOf(LARGE)), LARGE.length);
    assert.ok((await bytesOf(await readLarge(bucket, 'b/one'))).equals(LARGE));
    const small = Buffer.from('small');
    await writeLarge(bucket, 'b/one', chunksOf(small));
    assert.ok((await bytesOf(await readLarge(bucket, 'b/one'))).equals(small));
    const broken = (async function* () {
      yield LARGE;
      throw new Error('the disk broke');
    })();
    await assert.rejects(writeLarge(bucket, 'b/one', broken), /the disk broke/);
    assert.ok(
      (await bytesOf(await readLarge(bucket, 'b/one'))).equals(small),
      'an upload that failed leaves the old one',
    );
    const replaced = await readLarge(bucket, 'b/one');
    await bucket.put('b/one', Buffer.from('other'));
    assert.match(await faultOf(bytesOf(replaced)), /was replaced while it was read; try again$/);
  });
}

test('an upload survives transient failures, and leaves nothing after permanent ones', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const { bucket, pauses } = bucketAt(store.endpoint);
  const steps: ((response: ServerResponse) => void)[] = [
    (response) => refuse(response, 503, 'SlowDown', { 'retry-after': '7' }),
    (response) => response.destroy(),
    (response) => refuse(response, 429, 'TooManyRequests'),
  ];
  store.intercept = ({ method, query }, response) => {
    if (method !== 'PUT' || !query.has('partNumber')) return false;
    const step = steps.shift();
    step?.(response);
    return step !== undefined;
  };
  await writeLarge(bucket, 'b', chunksOf(LARGE));
  assert.equal(pauses.length, 3);
  assert.ok((pauses[0] ?? 0) >= 7_000);
  assert.ok(store.objects.get('b')?.bytes.equals(LARGE));
  // The response to the last request is lost: the object is there.
  let lost = 0;
  store.intercept = async ({ method, query, key }, response) => {
    if (method !== 'POST' || !query.has('uploadId') || lost++ > 0) return false;
    store.uploads.delete(query.get('uploadId') ?? '');
    store.objects.set(key, { bytes: LARGE, headers: {}, etag: 'x-3', modified: new Date() });
    response.destroy();
    return true;
  };
  store.objects.clear();
  assert.equal(await writeLarge(bucket, 'b', chunksOf(LARGE)), LARGE.length);
  // The store gave the upload up: what is there is the backup of yesterday.
  const old = { bytes: LARGE, headers: {}, etag: 'y-3', modified: new Date(Date.now() - 86_400_000) };
  store.objects.set('b', old);
  store.intercept = ({ method, query }) => {
    if (method === 'POST' && query.has('uploadId')) store.uploads.clear();
    return false;
  };
  assert.match(await faultOf(writeLarge(bucket, 'b', chunksOf(LARGE))), /has lost the parts of b; try again$/);
  assert.equal(store.objects.get('b'), old);

  for (const [status, code, line] of [
    [403, 'AccessDenied', /may not PUT s3:\/\/papers\/c at .* allow them/],
    [400, 'ExpiredToken', /have expired; set new ones/],
    [403, 'RequestTimeTooSkewed', /rejects the time of this machine.*; set its clock/],
    [503, 'SlowDown', /failed \(status 503, SlowDown: SlowDown\.\); try again later$/],
  ] as const) {
    let parts = 0;
    store.intercept = ({ query }, response) => {
      if (!query.has('partNumber') || parts++ === 0) return false;
      refuse(response, status, code);
      return true;
    };
    assert.match(await faultOf(writeLarge(bucket, 'c', chunksOf(LARGE))), line);
    assert.ok(!store.objects.has('c'));
    assert.equal(store.uploads.size, 0, 'its parts are given up');
  }
});

test('a backup goes to a bucket and comes back; each refusal is one line', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...env } = storeEnv(store.endpoint);
  const sent = await run(t, folder, ['backup', `s3://${BUCKET}/backups/a.tar.zst`], env);
  assert.equal(sent.code, 0, sent.stderr);
  assert.match(sent.stdout, /^backed up to s3:\/\/papers\/backups\/a\.tar\.zst: [\d.]+ [kM]B \(database [^\n]*\n$/);
  const home = tempFolder(t);
  const back = await run(t, home, ['restore', `s3://${BUCKET}/backups/a.tar.zst`], env);
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout, /^restored \S+var as it was on .*door\.key/);

  const settings = readSettings({ ...envIn(home), ...env });
  const fault = (text: string, given = settings) => faultOf(bytesOf(backupLocation(given, text, AT).read()));
  assert.match(
    await fault(`s3://${BUCKET}/none`),
    /^there is no object s3:\/\/papers\/none; name the object of a backup$/,
  );
  assert.match(await fault(`s3://${BUCKET}/backups/`), /^there is no object .*; name an object, such as s3:/);
  assert.match(await fault('s3://no-such-bucket/a'), /^there is no bucket no-such-bucket at .*create it, or correct/);
  const wrong = readSettings({ ...envIn(home), ...env, AWS_ACCESS_KEY_ID: 'other' });
  assert.match(await fault(`s3://${BUCKET}/a`, wrong), /does not accept the credentials .*; correct AWS_ACCESS_KEY_ID/);
  const none = readSettings({ ...envIn(home) });
  assert.throws(
    () => backupLocation(none, `s3://${BUCKET}/a`, AT),
    /AWS_ACCESS_KEY_ID is not set, and s3:\/\/papers needs/,
  );
  assert.throws(() => backupLocation(settings, `s3://${BUCKET}/a?paper=x`, AT), /must not have paper=/);
  assert.throws(() => backupLocation(settings, 's3:///a', AT), /must name a bucket/);
  const item = store.objects.get('backups/a.tar.zst');
  assert.ok(item);
  store.objects.set('cut', { ...item, bytes: item.bytes.subarray(0, -9) });
  const cut = await run(t, tempFolder(t), ['restore', `s3://${BUCKET}/cut`], env);
  assert.match(
    cut.stderr,
    /^broadsheet: s3:\/\/papers\/cut is not a complete backup: it is truncated or altered [^\n]*\n$/,
  );
});

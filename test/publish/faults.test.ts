import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { LEASE_FILE, PublishLease } from '../../src/operate/publish/publish-lease.ts';
import { readSettings } from '../../src/server/env.ts';
import { Fault, messageOf } from '../../src/shared/fault.ts';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import { S3Bucket } from '../../src/shared/storage/s3-bucket.ts';
import { BUCKET, CREDENTIALS, refuse, S3Server } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

async function bucketOf(t: TestContext, { bucket = BUCKET, credentials = CREDENTIALS } = {}) {
  const store = await S3Server.start(t);
  const pauses: number[] = [];
  const address = parseAddress(`s3://${bucket}?endpoint=${store.endpoint}&region=eu-west-9`) as S3Address;
  const s3 = new S3Bucket(address, credentials, async (ms) => void pauses.push(ms));
  return { store, s3, pauses };
}

/** Answers the first requests by itself, one step each. */
function first(store: S3Server, ...steps: ((response: ServerResponse) => void)[]): void {
  store.intercept = (_request, response) => {
    const step = steps.shift();
    step?.(response);
    return step !== undefined;
  };
}

const bytes = Buffer.from('bytes');

test('a store that is busy or cuts the connection is asked again', async (t) => {
  const { store, s3, pauses } = await bucketOf(t);
  first(
    store,
    (response) => refuse(response, 503, 'SlowDown', { 'retry-after': '7' }),
    (response) =>
      refuse(response, 429, 'TooManyRequests', { 'retry-after': new Date(Date.now() + 90_000).toUTCString() }),
    (response) => response.destroy(),
    (response) => refuse(response, 500, 'InternalError'),
    (response) => refuse(response, 400, 'RequestTimeout'),
  );
  assert.ok(await s3.put('a', bytes));
  assert.equal(pauses.length, 5);
  assert.ok((pauses[0] ?? 0) >= 7_000 && (pauses[1] ?? 0) > 80_000, String(pauses));
  assert.equal(store.bytes('a'), 'bytes');

  // A response that breaks off is no response.
  first(store, (response) => {
    response.writeHead(200, { 'content-length': '5' });
    response.write('by');
    setImmediate(() => response.destroy());
  });
  assert.equal(Buffer.from((await s3.get('a'))?.bytes ?? []).toString(), 'bytes');
});

test('a conditional write whose response is lost is recognized as ours', async (t) => {
  const { store, s3 } = await bucketOf(t);
  let cuts = 0;
  store.intercept = async ({ method }, response, raw) => {
    if (method !== 'PUT' || cuts > 0) return false;
    cuts++;
    // The store keeps it, and the response never arrives.
    const chunks: Buffer[] = [];
    for await (const chunk of raw) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    store.objects.set(LEASE_FILE, { bytes: body, headers: {}, etag: 'kept', modified: new Date() });
    response.destroy();
    return true;
  };
  const lease = await PublishLease.acquire({
    ...{ bucket: s3, prefix: '', excludes: [], tree: 'a-paper', key: 'k', name: 'me', takesOver: false },
    waiting: () => assert.fail('waits for itself'),
  });
  await lease.release();
  assert.match(store.bytes(LEASE_FILE) ?? '', /"holder":null/);
});

test('a publish lease expires without renewal, and its holder notices', { skip: ONLY_WIDE }, async (t) => {
  const { store, s3 } = await bucketOf(t);
  const request = {
    ...{ bucket: s3, prefix: '', excludes: [], tree: 'a-paper', key: 'k', takesOver: true },
    times: { lasts: 3_000, poll: 50 },
    waiting: () => {},
  };
  const paused = await PublishLease.acquire({ ...request, name: 'paused' });
  const waited: string[] = [];
  const other = PublishLease.acquire({
    ...request,
    name: 'next',
    waiting: (name) => void waited.push(name),
  });
  const item = store.objects.get(LEASE_FILE);
  assert.ok(item);
  // Every renewal of the first is for an object that another one replaced.
  const text = item.bytes.toString();
  store.objects.set(LEASE_FILE, {
    ...item,
    bytes: Buffer.from(text.replace('"paused"', '"thief"').replace(/"id":"[^"]+"/, '"id":"x"')),
    etag: 'stolen',
  });
  assert.ok((await other).before !== null);
  assert.ok(waited.includes('thief') || waited.includes('paused'));
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.throws(() => paused.assertHeld(), /another publisher may have taken over/);
  await Promise.all([paused.release(), (await other).release()]);
});

test('each refusal is one line with its cure', async (t) => {
  const { store, s3 } = await bucketOf(t);
  const faultOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => assert.fail('no fault'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Fault, messageOf(error));
    assert.ok(!error.message.includes('\n'));
    return error.message;
  };
  const refused = (status: number, code: string, headers: Record<string, string> = {}) => {
    first(store, (response) => refuse(response, status, code, headers));
    return faultOf(s3.get('a'));
  };
  const elsewhere = await bucketOf(t, { bucket: 'nowhere' });
  assert.match(
    await faultOf(elsewhere.s3.get('a')),
    /^there is no bucket nowhere at http.*; create it, or correct the address$/,
  );
  const stranger = await bucketOf(t, { credentials: { accessKeyId: 'other', secretAccessKey: 'secret' } });
  const wrong = await faultOf(stranger.s3.get('a'));
  assert.match(wrong, /does not accept the credentials \(InvalidAccessKeyId\); correct AWS_ACCESS_KEY_ID/);
  assert.ok(!wrong.includes('secret '));
  assert.match(await refused(400, 'ExpiredToken'), /have expired; set new ones/);
  assert.match(await refused(403, 'AccessDenied'), /may not GET s3:\/\/papers\/a .*; allow them GetObject/);
  const early = new Date(Date.now() - 20 * 60_000).toUTCString();
  assert.match(
    await refused(403, 'RequestTimeTooSkewed', { date: early }),
    /rejects the time of this machine, which is 20 minutes ahead; set its clock/,
  );
  const far = new Date(Date.now() + 40 * 86_400_000).toUTCString();
  assert.match(await refused(403, 'RequestTimeTooSkewed', { date: far }), /which is 40 days behind; set its clock/);
  assert.match(
    await refused(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-central-1' }),
    /is not in the region eu-west-9; give \?region=eu-central-1/,
  );
  assert.match(await refused(501, 'NotImplemented'), /must support conditional PUT/);
  store.intercept = (_request, response) => {
    refuse(response, 503, 'SlowDown');
    return true;
  };
  assert.match(
    await faultOf(s3.put('a', bytes)),
    /PUT s3:\/\/papers\/a at .* failed \(status 503, SlowDown: SlowDown\.\); try again later/,
  );
  const gone = new S3Bucket(
    parseAddress(`s3://${BUCKET}?endpoint=http://127.0.0.1:1`) as S3Address,
    CREDENTIALS,
    async () => {},
  );
  assert.match(await faultOf(gone.get('a')), /^http:\/\/127\.0\.0\.1:1 cannot be reached \(.*\); check the endpoint/);
});

test('an address is refused with its field, its value and the cure', () => {
  const refusals: [string, RegExp][] = [
    ['', /must be s3:\/\/BUCKET\/PREFIX/],
    ['https://papers.example/', /must be s3:\/\/BUCKET\/PREFIX, a folder/],
    ['s3://', /must be s3|must name a bucket/],
    ['s3://Bu_/x', /must name a bucket/],
    ['s3://key:secret@papers/x', /must not hold credentials/],
    ['s3://papers/x?regoin=a', /must not have "regoin" after the \?/],
    ['s3://papers/x?endpoint=store.example', /must have an endpoint that is a scheme and a host/],
    ['s3://papers/x#y', /must not have a #/],
    ['s3://papers/a/%2e%2e/b', /^(?!.*undefined)/],
  ];
  for (const [text, message] of refusals) {
    const parsed = parseAddress(text);
    if (typeof parsed === 'string') assert.match(parsed, message, text);
    else assert.equal((parsed as S3Address).prefix, 'b/', text);
  }
  const parsed = parseAddress('s3://papers/a/b/?paper=quay', {
    region: 'auto',
    endpoint: 'https://r2.example/',
  }) as S3Address;
  assert.deepEqual(
    [parsed.prefix, parsed.endpoint, parsed.region, parsed.paper],
    ['a/b/', 'https://r2.example', 'auto', 'quay'],
  );
  assert.throws(
    () => readSettings({ PUBLISH_URL: 'ftp://papers' }),
    /^Fault: PUBLISH_URL=ftp:\/\/papers: must be s3.*; correct it in the environment or in \.env$/,
  );
});

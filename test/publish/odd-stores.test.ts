import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { PublishLease } from '../../src/operate/publish/publish-lease.ts';
import { Fault, messageOf } from '../../src/shared/fault.ts';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import type { Bucket } from '../../src/shared/storage/bucket.ts';
import { S3Bucket } from '../../src/shared/storage/s3-bucket.ts';
import { BUCKET, CREDENTIALS, S3Server } from '../support/s3-server.ts';

async function bucketOf(t: TestContext) {
  const store = await S3Server.start(t);
  const address = parseAddress(`s3://${BUCKET}?endpoint=${store.endpoint}`) as S3Address;
  return { store, s3: new S3Bucket(address, CREDENTIALS, async () => {}) };
}

/** Answers every request so. */
function always(store: S3Server, status: number, body: string, headers: Record<string, string> = {}): void {
  store.intercept = (_request, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('no fault'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, messageOf(error));
  assert.ok(!error.message.includes('\n') && error.message.length < 600, error.message);
  return error.message;
}

async function keysOf(bucket: Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(prefix)) keys.push(key);
  return keys;
}

const bytes = Buffer.from('bytes');
const PAGE = '<!doctype html><title>Sign in</title><p>Welcome to our network.';

const ACTS: Record<string, (bucket: Bucket) => Promise<unknown>> = {
  get: (bucket) => bucket.get('a'),
  head: (bucket) => bucket.head('a'),
  put: (bucket) => bucket.put('a', bytes),
  'put if absent': (bucket) => bucket.put('a', bytes, { onlyIf: 'absent' }),
  list: (bucket) => keysOf(bucket, ''),
  remove: (bucket) => bucket.remove(['a']),
};

test('a web site is not mistaken for a store', async (t) => {
  const { store, s3 } = await bucketOf(t);
  for (const [what, act] of Object.entries(ACTS)) {
    always(store, 200, PAGE, { 'content-type': 'text/html' });
    assert.match(await faultOf(act(s3)), /is no answer of object storage.*check the endpoint/, `${what}: 200`);
    always(store, 302, PAGE, { location: 'https://login.example/' });
    assert.match(await faultOf(act(s3)), /redirects to https:\/\/login\.example\/; correct the endpoint/, what);
    // An object that is not there is told from a page that is not, except to HEAD, which gets no body.
    always(store, 404, PAGE, { 'content-type': 'text/html' });
    if (what === 'head') assert.equal(await act(s3), null);
    else assert.match(await faultOf(act(s3)), /is no answer of object storage.*check the endpoint/, `${what}: 404`);
  }
});

test('a listing that loops, breaks off or lists other keys is rejected', async (t) => {
  const { store, s3 } = await bucketOf(t);
  const rows = (...keys: string[]) =>
    keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
  const page = (more: string, ...keys: string[]) => `<ListBucketResult>${more}${rows(...keys)}</ListBucketResult>`;
  const token = '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>';
  for (const body of [
    page(token, 'p/a'),
    page('<IsTruncated>true</IsTruncated>', 'p/a'),
    page('<IsTruncated>false</IsTruncated>', 'q/a'),
    page('', 'p/a').slice(0, -9),
    page('', 'p/&#1;'),
    // Entities that grow are not expanded.
    `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>${page('', 'p/&b;')}`,
  ]) {
    always(store, 200, body);
    assert.match(await faultOf(keysOf(s3, 'p/')), /listing/, body);
  }
});

test('keys that XML cannot hold are listed and removed', async (t) => {
  const { store, s3 } = await bucketOf(t);
  const odd = ['p/a b', 'p/a+b', 'p/\u0001', 'p/ä%20', 'p/\ud83d\ude00'];
  for (const key of odd) await s3.put(key, bytes);
  store.encodesKeys = true;
  assert.deepEqual((await keysOf(s3, 'p/')).sort(), odd.toSorted());
  await s3.remove(odd);
  assert.deepEqual(await keysOf(s3, 'p/'), []);
});

test('an answer without an end takes no memory', async (t) => {
  const { store, s3 } = await bucketOf(t);
  const chunk = Buffer.alloc(1_000_000, 'a');
  let sent = 0;
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed && sent < 500) {
      sent++;
      if (!response.write(chunk)) return void response.once('drain', () => pour(response));
    }
    response.end();
  };
  store.intercept = (_request, response) => {
    response.writeHead(200, { etag: '"a"' });
    pour(response);
    return true;
  };
  assert.match(await faultOf(s3.get('a')), /more than \d+ MB/);
  assert.ok(sent < 400, `${sent} MB`);
});

test('a store that ignores conditions is refused before anything is sent', async (t) => {
  const request = {
    ...{ prefix: 'p/', excludes: [], tree: 'a-paper', key: 'k', name: 'me', takesOver: false },
    waiting: () => assert.fail('waits'),
  };
  const { store, s3 } = await bucketOf(t);
  store.intercept = (_request, _response, raw) => {
    delete raw.headers['if-none-match'];
    return false;
  };
  assert.match(
    await faultOf(PublishLease.acquire({ ...request, bucket: s3 })),
    /If-None-Match; a store must support conditional/,
  );
  assert.equal(store.objects.size, 0);
  store.intercept = (_request, _response, raw) => {
    delete raw.headers['if-match'];
    return false;
  };
  assert.match(
    await faultOf(PublishLease.acquire({ ...request, bucket: s3 })),
    /If-Match; a store must support conditional/,
  );
  assert.equal(store.objects.size, 0);
  // One that never has the object, and never lets it be written, is no reason to ask for ever.
  store.intercept = ({ method }, response) => {
    if (method === 'PUT') response.writeHead(412).end();
    return method === 'PUT';
  };
  store.objects.clear();
  const times = { lasts: 3_000, poll: 1 };
  assert.match(
    await faultOf(PublishLease.acquire({ ...request, bucket: s3, times })),
    /does not show what was written/,
  );
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import type { Bucket } from '../../src/shared/storage/bucket.ts';
import { FolderBucket } from '../../src/shared/storage/folder-bucket.ts';
import { S3Bucket } from '../../src/shared/storage/s3-bucket.ts';
import { tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { BUCKET, CREDENTIALS, S3Server, startVersitygw } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const KINDS: Record<string, { skip: string | false; open(t: TestContext): Promise<Bucket> }> = {
  'a folder': { skip: false, open: async (t) => new FolderBucket(tempFolder(t)) },
  'our own store': {
    skip: false,
    async open(t) {
      const store = await S3Server.start(t);
      store.pageSize = 3;
      return bucketAt(store.endpoint);
    },
  },
  versitygw: { skip: without('versitygw'), open: async (t) => bucketAt(await startVersitygw(t, tempFolder(t))) },
};

function bucketAt(endpoint: string): Bucket {
  return new S3Bucket(parseAddress(`s3://${BUCKET}?endpoint=${endpoint}`) as S3Address, CREDENTIALS);
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const bytes = (text: string) => Buffer.from(text);

async function keysOf(bucket: Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(prefix)) keys.push(key);
  return keys.sort();
}

for (const [kind, { skip, open }] of Object.entries(KINDS)) {
  test(`${kind} keeps, lists, replaces under a condition and removes objects`, { skip }, async (t) => {
    const bucket = await open(t);
    const odd = 'p/a b+c/ä&(1)!.html';
    assert.equal(await bucket.get('p/none'), null);
    assert.equal(await bucket.head('p/none'), null);
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public',
      'x-amz-meta-link': '<https://a.example/>; rel="x"',
    };
    assert.equal(await bucket.put(odd, bytes('one'), { headers }), md5('one'));
    const found = await bucket.get(odd);
    assert.equal(Buffer.from(found?.bytes ?? []).toString(), 'one');
    assert.equal(found?.etag, md5('one'));
    assert.ok((found?.age ?? -1) >= 0);
    if (bucket.keepsHeaders) {
      const head = await bucket.head(odd);
      for (const [name, value] of Object.entries(headers)) assert.equal(head?.headers[name], value);
      assert.equal(head?.size, 3);
    }
    assert.equal(await bucket.put(odd, bytes('two'), { onlyIf: 'absent' }), null);
    assert.equal(await bucket.put(odd, bytes('two'), { onlyIf: { etag: md5('other') } }), null);
    assert.equal(await bucket.put(odd, bytes('two'), { onlyIf: { etag: md5('one') } }), md5('two'));
    assert.equal(await bucket.put('p/none', bytes('x'), { onlyIf: { etag: md5('one') } }), null);
    assert.equal(await bucket.put('p/new', bytes('x'), { onlyIf: 'absent' }), md5('x'));

    const many = Array.from({ length: 8 }, (_, n) => `p/many/${n}`);
    await Promise.all([...many, 'q/other'].map((key) => bucket.put(key, bytes(key))));
    assert.deepEqual(await keysOf(bucket, 'p/'), [odd, ...many, 'p/new'].sort());
    for await (const { key, size, etag } of bucket.list('p/many/'))
      assert.deepEqual([size, etag], [key.length, md5(key)]);
    await bucket.remove([odd, ...many, 'p/never-there']);
    assert.deepEqual(await keysOf(bucket, 'p/'), ['p/new']);
    assert.deepEqual(await keysOf(bucket, 'nothing/'), []);
  });

  test(`${kind} lets one of fifty take an object`, { skip: ONLY_WIDE || skip }, async (t) => {
    const bucket = await open(t);
    const tries = Array.from({ length: 50 }, (_, n) => bucket.put('lease', bytes(`by ${n}`), { onlyIf: 'absent' }));
    const won = (await Promise.all(tries)).filter((etag) => etag !== null);
    assert.equal(won.length, 1);
    assert.equal((await bucket.get('lease'))?.etag, won[0]);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseCache, representationOf } from '../../../api/responses/response-cache.ts';

test('a response is computed once per state for concurrent requests', async () => {
  const kept = new ResponseCache();
  let made = 0;
  const make = async () => {
    made += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    return `answer ${made}`;
  };
  const answers = await Promise.all(Array.from({ length: 32 }, () => kept.load('list', 'one', make)));
  assert.equal(made, 1);
  assert.ok(answers.every(({ bytes }) => bytes.toString() === 'answer 1'));
  assert.equal((await kept.load('list', 'one', make)).etag, answers[0]?.etag);
  const next = await kept.load('list', 'two', make);
  assert.equal(next.bytes.toString(), 'answer 2');
  assert.notEqual(next.etag, answers[0]?.etag);
  assert.equal((await kept.load('other list', 'two', make)).bytes.toString(), 'answer 3');
});

test('a failure is thrown to all waiters, and the next request retries', async () => {
  const kept = new ResponseCache();
  const fail = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error('the store is away');
  };
  const answers = await Promise.allSettled([kept.load('list', 'one', fail), kept.load('list', 'one', fail)]);
  assert.ok(answers.every(({ status }) => status === 'rejected'));
  const atOnce = () => {
    throw new Error('at once');
  };
  await assert.rejects(kept.load('list', 'one', atOnce), /at once/);
  const again = await kept.load('list', 'one', () => ({ text: 'it is back', link: '</next>; rel="next"' }));
  assert.deepEqual([again.bytes.toString(), again.headers], ['it is back', { Link: '</next>; rel="next"' }]);
});

test('a response larger than the whole cache is sent all the same', async () => {
  const kept = new ResponseCache();
  const { bytes } = await kept.load('all', 'one', () => 'x'.repeat(17 * 1024 * 1024));
  assert.equal(bytes.length, 17 * 1024 * 1024);
});

test('the cache uses no more memory than it counts: buffers are copied, and entries have overhead', async () => {
  const kept = new ResponseCache(64 * 1024);
  const small = await kept.load('small', 'one', () => 'ten chars.');
  const packed = kept.gzipped('small', 'one', small);
  for (const { bytes } of [small, packed]) assert.equal(bytes.buffer.byteLength, bytes.length);
  const names = Array.from({ length: 1_000 }, (_, n) => `${n}`);
  for (const name of names) kept.get(name, 'one', () => small);
  // From the newest on, as long as none has to be made again.
  let again = 0;
  const make = () => {
    again++;
    return small;
  };
  const left = names.toReversed().findIndex((name) => {
    kept.get(name, 'one', make);
    return again > 0;
  });
  assert.ok(left > 50 && left < 200, `${left} of 1,000 small answers are kept`);
});

test('no name maps to the gzipped response of another', () => {
  const kept = new ResponseCache();
  const make = (text: string) => () => representationOf(text);
  const plain = kept.get('tide', 'one', make('tide'));
  kept.gzipped('tide', 'one', plain);
  for (const name of ['tide gzip', 'gzip tide', 'gzip one tide']) {
    assert.equal(kept.get(name, 'one', make(name)).bytes.toString(), name);
  }
  assert.notEqual(kept.gzipped('tide gzip', 'one', plain), kept.gzipped('tide', 'one', plain));
});

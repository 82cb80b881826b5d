import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { PublishLease } from '../../src/operate/publish/publish-lease.ts';
import { FolderBucket } from '../../src/shared/storage/folder-bucket.ts';
import { isDead, PROCESS } from '../../src/shared/workers/process-name.ts';
import { tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const bytes = Buffer.from('bytes');
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

test('a lock of a dead process blocks nobody', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, '.broadsheet'));
  writeFileSync(join(folder, '.broadsheet', `${md5('lease')}.lock`), 'the dead one');
  const bucket = new FolderBucket(folder, { name: 'me', isDead: (name) => name === 'the dead one' });
  const tries = Array.from({ length: 20 }, (_, n) => bucket.put('lease', Buffer.from(`${n}`), { onlyIf: 'absent' }));
  assert.equal((await Promise.all(tries)).filter((etag) => etag !== null).length, 1);
  assert.deepEqual(readdirSync(join(folder, '.broadsheet')), []);
});

test('a process that was stopped while it had the lock does not write over what came after', async (t) => {
  const folder = tempFolder(t);
  const [stopped, other] = [new FolderBucket(folder), new FolderBucket(folder)];
  const etag = (await stopped.put('lease', bytes)) ?? '';
  const lock = join(folder, '.broadsheet', `${md5('lease')}.lock`);
  // It is stopped while it writes, for so long that its lock is broken.
  const slow = (async function* () {
    rmSync(lock);
    assert.notEqual(await other.put('lease', Buffer.from('later'), { onlyIf: { etag } }), null);
    yield bytes;
  })();
  assert.equal(await stopped.put('lease', { stream: () => slow } as unknown as Blob, { onlyIf: { etag } }), null);
  assert.equal(String((await other.get('lease'))?.bytes), 'later');
});

test('a folder whose files are dated by another clock takes what is written on a condition', async (t) => {
  const bucket = new FolderBucket(tempFolder(t));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 365 * 86_400_000 });
  const etag = await bucket.put('lease', bytes, { onlyIf: 'absent' });
  assert.ok(etag !== null, 'its own lock is not one that was left behind');
  assert.ok((await bucket.put('lease', Buffer.from('later'), { onlyIf: { etag } })) !== null);
});

test('two writes of one process do not take each other for dead', async (t) => {
  const bucket = new FolderBucket(tempFolder(t), { name: PROCESS, isDead });
  const etag = (await bucket.put('lease', bytes)) ?? '';
  const tries = Array.from({ length: 8 }, (_, n) => bucket.put('lease', Buffer.from(`${n}`), { onlyIf: { etag } }));
  assert.equal((await Promise.all(tries)).filter((won) => won !== null).length, 1);
});

test('links to folders are rejected, and a pipe does not block', async (t) => {
  const folder = tempFolder(t);
  const bucket = new FolderBucket(folder);
  await bucket.put('p/a', bytes);
  symlinkSync(join(folder, 'p/a'), join(folder, 'p/b'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'p/c'));
  execFileSync('mkfifo', [join(folder, 'p/pipe')]);
  const list = async () => {
    const found: string[] = [];
    for await (const { key, size } of bucket.list('p/')) found.push(`${key} ${size}`);
    return found.sort();
  };
  assert.deepEqual(await list(), ['p/a 5', 'p/b 5', 'p/c -1', 'p/pipe -1']);
  await bucket.remove(['p/b', 'p/c', 'p/pipe']);
  assert.deepEqual(await list(), ['p/a 5']);
  symlinkSync(folder, join(folder, 'p/again'));
  await assert.rejects(list(), /again is a link to a folder; put the folder itself there, or remove the link/);
});

test('a publish lease in a folder expires by the monotonic clock, whatever the times of files', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const bucket = new FolderBucket(folder);
  const waited: string[] = [];
  const request = {
    ...{ bucket, prefix: '', excludes: [], tree: 'a-paper', key: 'k', takesOver: true },
    times: { lasts: 900, poll: 20 },
    waiting: (holder: string) => void waited.push(holder),
  };
  const alive = await PublishLease.acquire({ ...request, name: 'alive' });
  const file = join(folder, '.broadsheet.json');
  // The clock of this machine is set ahead by an hour.
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(file, old, old);
  const next = PublishLease.acquire({ ...request, name: 'next' });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  alive.assertHeld();
  await alive.release();
  await (await next).release();
  assert.ok(waited.length > 5);
  // And back: a publisher that died wrote in the future.
  const holder = { id: 'x', name: 'dead elsewhere', beat: 4 };
  const record = { broadsheet: 1, tree: 'a-paper', key: 'k', publication: 'p', holder };
  writeFileSync(file, JSON.stringify(record));
  const late = new Date(Date.now() + 3_600_000);
  utimesSync(file, late, late);
  await (await PublishLease.acquire({ ...request, name: 'third' })).release();
});

test('a pipe in the place of an object, or more bytes than are asked for, end a read instead of holding it', async (t) => {
  const folder = tempFolder(t);
  const bucket = new FolderBucket(folder);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('/dev/zero', join(folder, 'device'));
  mkdirSync(join(folder, 'folder'));
  for (const key of ['pipe', 'device', 'folder']) {
    const refusal = new RegExp(`/${key} is not a file; put one there, or remove it$`);
    await assert.rejects(bucket.get(key), refusal);
    await assert.rejects(bucket.head(key), refusal);
    await assert.rejects(bucket.range(key, md5(''), 0, 1), refusal);
    await assert.rejects(bucket.put(key, bytes, { onlyIf: 'absent' }), refusal);
  }
  await bucket.put('large', bytes);
  await assert.rejects(bucket.get('large', 4), /large has 5 bytes, and at most 4 are read$/);
  assert.equal(String((await bucket.get('large', 5))?.bytes), 'bytes');
  assert.equal(String(await bucket.range('large', md5('bytes'), 3, Number.MAX_SAFE_INTEGER)), 'es');
});

test('a file that is replaced at any moment of a read gives no bytes under the ETag of others', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'key');
  const replace = () => {
    writeFileSync(join(folder, 'aside'), 'BYTES');
    renameSync(join(folder, 'aside'), path);
  };
  // Replaces the file after operation number `at` of those that a read makes, from 0: before it.
  let [done, at] = [0, 0];
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (at === 0 && done === 0) replace();
    const result = await work();
    if (++done === at) replace();
    return result;
  };
  const { open } = files;
  t.mock.method(files, 'open', (...args: Parameters<typeof open>) =>
    step(async () => {
      const file = await open(...args);
      for (const name of ['stat', 'read'] as const) {
        const own = file[name].bind(file) as (...given: unknown[]) => Promise<unknown>;
        Object.assign(file, { [name]: (...given: unknown[]) => step(() => own(...given)) });
      }
      return file;
    }),
  );
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  for (const isKnown of [false, true]) {
    for (at = 0; at < 5; at++) {
      for (const asked of ['bytes', 'BYTES']) {
        const bucket = new FolderBucket(folder);
        writeFileSync(path, 'bytes');
        done = Number.POSITIVE_INFINITY;
        if (isKnown) assert.equal(String(await bucket.range('key', md5('bytes'), 0, 5)), 'bytes');
        done = 0;
        const found = await bucket.range('key', md5(asked), 0, 5);
        assert.ok(found === null || String(found) === asked, `${found} under the ETag of ${asked}, step ${at}`);
        done = Number.POSITIVE_INFINITY;
        replace();
        assert.equal(String(await bucket.range('key', md5('BYTES'), 0, 5)), 'BYTES');
      }
    }
  }
});

test('a file that is overwritten in its place, with the same length and time, is another one', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'key');
  const bucket = new FolderBucket(folder);
  writeFileSync(path, 'bytes');
  const { atime, mtime } = statSync(path);
  assert.equal(String(await bucket.range('key', md5('bytes'), 0, 5)), 'bytes');
  await until(() => {
    writeFileSync(path, 'BYTES');
    utimesSync(path, atime, mtime);
    return statSync(path).ctimeMs > mtime.getTime() + 20 || null;
  });
  assert.equal(await bucket.range('key', md5('bytes'), 0, 5), null);
  assert.equal(String(await bucket.range('key', md5('BYTES'), 0, 5)), 'BYTES');
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { mock, test } from 'node:test';

// The disk refuses to take anything until `sync` is given back. The modules that use it are loaded after that.
const sound = fs.fdatasync;
const sync = mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error) => void) => {
  setImmediate(done, Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
});
const write = mock.method(fs, 'writeSync');
syncBuiltinESMExports();
const [{ openStore }, { tempFolder }] = await Promise.all([
  import('../../src/store/store.ts'),
  import('../support/app-context.ts'),
]);

test('what the disk refuses to take is written to the log again, and who waits for it is told', async (t) => {
  const file = join(tempFolder(t), 'broadsheet.db');
  const store = openStore({ file });
  t.after(() => store.close());
  const { synced } = await store.lateCommit(() => store.leases.acquire('test', 'me', Date.now, 1_000));
  await assert.rejects(synced, { code: 'unavailable', message: /broadsheet\.db cannot be written \(EIO/ });
  // A kernel drops what it could not write: a later sync, of any commit, would leave a hole in the log.
  const again = write.mock.calls.reduce((sum, { result }) => sum + Number(result), 0);
  assert.equal(again, fs.statSync(`${file}-wal`).size);
  sync.mock.mockImplementation(sound as never);
  const { result, synced: later } = await store.lateCommit(() => 'more');
  await later;
  assert.equal(result, 'more');
});

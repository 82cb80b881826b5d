import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { drill, restore } from '../../src/operate/backup/restore.ts';
import { readSettings } from '../../src/server/env.ts';
import { lockFile } from '../../src/shared/sql/file-lock.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { unpackDatabase } from '../support/old-database.ts';
import { PROGRAM, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { AT, backUp, faultOf } from './backups.ts';

// A folder into which is restored, and those who use it meanwhile.

const hooks: (() => void)[] = [];
const folder = tempFolder({ after: (hook) => void hooks.push(hook) });
const settings = readSettings(envIn(folder));
const file = join(folder, 'today');
before(async () => {
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  await backUp(settings, file);
});
after(() => {
  for (const hook of hooks) hook();
});

/** A backup that stops before its last bytes until it is let go. */
function held() {
  const bytes = readFileSync(file);
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  const location = {
    name: 'a slow backup',
    write: async () => 0,
    async *read() {
      yield bytes.subarray(0, bytes.length - 100);
      await isFree;
      yield bytes.subarray(bytes.length - 100);
    },
  };
  return { place: location, free };
}

/** Restores a slow backup, and waits until its database is being written. */
async function slowly(to: string) {
  const { place: location, free } = held();
  const done = restore(location, to, () => {});
  done.catch(() => {});
  while (!existsSync(join(to, '.restoring/door.key'))) await new Promise(setImmediate);
  return { done, free };
}

test('of two restores into one folder, one is refused and changes nothing', async (t) => {
  const to = join(tempFolder(t), 'var');
  const { done, free } = await slowly(to);
  const second = restore(backupLocation(settings, file, AT), to, () => {});
  assert.match(await faultOf(second), /another restore into \S+var is under way; wait for it, or stop it$/);
  free();
  await done;
  assert.deepEqual(readdirSync(to).sort(), ['broadsheet.db', 'door.key', 'media']);
  assert.deepEqual(treeOf(join(to, 'media')), treeOf(join(settings.dataDir, 'media')));
});

test('files that appear in the folder meanwhile are neither replaced nor removed', async (t) => {
  for (const name of ['broadsheet.db', 'door.key', 'media/x', 'notes']) {
    const to = join(tempFolder(t), 'var');
    const { done, free } = await slowly(to);
    mkdirSync(join(to, name, '..'), { recursive: true });
    writeFileSync(join(to, name), 'of another');
    free();
    assert.match(
      await faultOf(done),
      /came into \S+var while it was restored; stop whatever uses this folder, empty it, and/,
    );
    assert.deepEqual([...treeOf(to).keys()], [name]);
    assert.equal(readFileSync(join(to, name), 'utf8'), 'of another');
  }
});

test('the lock of a restore ends with its process, and with the restore', async (t) => {
  const to = tempFolder(t);
  mkdirSync(join(to, '.restoring'));
  writeFileSync(join(to, '.restoring/.lock'), '');
  writeFileSync(join(to, '.restoring/half'), '');
  await restore(backupLocation(settings, file, AT), to, () => {});
  assert.ok(!existsSync(join(to, '.restoring')));
  const lock = join(tempFolder(t), 'lock');
  const unlock = lockFile(lock);
  assert.equal(lockFile(lock), null);
  unlock?.();
  const again = lockFile(lock);
  assert.notEqual(again, null);
  again?.();
});

test('a drill does not change a database of another version in use', async (t) => {
  const home = tempFolder(t);
  unpackDatabase('0.1.0', home);
  const before = treeOf(home);
  const here = readSettings(envIn(home));
  const found = await drill(here, backupLocation(settings, file, AT), { restored: () => {}, audited: () => {} });
  assert.deepEqual(found.faults, []);
  assert.match(
    found.heads.join('\n'),
    /the database \S+broadsheet\.db is not of this version: it was not opened, nor compared/,
  );
  assert.deepEqual([...treeOf(home)], [...before]);
});

test('a stopped drill leaves no keys behind', { skip: ONLY_WIDE || process.platform === 'win32' }, async (t) => {
  const home = tempFolder(t);
  const temporary = join(home, 'tmp');
  mkdirSync(temporary);
  const drilled = spawn(process.execPath, [PROGRAM, 'restore', '--drill', '-'], {
    env: { PATH: process.env.PATH, ...envIn(home), TMPDIR: temporary },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  t.after(() => drilled.kill('SIGKILL'));
  const ended = once(drilled, 'close');
  // It waits for the rest of its backup, and is ended before it has read all of this.
  drilled.stdin.on('error', () => {});
  drilled.stdin.write(readFileSync(file).subarray(0, -100));
  const isThere = () =>
    readdirSync(temporary, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('door.key'));
  await until(() => (isThere() ? true : null));
  drilled.kill('SIGTERM');
  assert.deepEqual(await ended, [1, null]);
  assert.deepEqual(readdirSync(temporary), []);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anyDiskState, diskStates } from '../../src/server/disks.ts';
import type { DiskState } from '../../src/shared/fault.ts';
import type { Store } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';

/** A database whose last write came to this. */
const database = (state: DiskState | null) => ({ database: { diskFault: () => state } }) as unknown as Store;
const sound = database(null);

/** The folders of an installation, each on its own. */
function folders(root: string) {
  return { dataDir: join(root, 'var'), distDir: join(root, 'papers'), logDir: join(root, 'log') };
}

test('folders that do not exist yet are judged by the disk that they will be on', async (t) => {
  const disks = await diskStates(folders(join(tempFolder(t), 'not/there')), sound);
  assert.deepEqual(disks, { data: null, papers: null, log: null });
  assert.equal(anyDiskState(disks), null);
});

test('the outcome of the database’s last write counts first', async (t) => {
  const disks = await diskStates(folders(tempFolder(t)), database('failing'));
  assert.deepEqual(disks, { data: 'failing', papers: null, log: null });
  assert.equal(anyDiskState(disks), 'failing');
});

test('a folder that cannot be reached is failing', async (t) => {
  const root = tempFolder(t);
  writeFileSync(join(root, 'log'), 'a file');
  const disks = await diskStates({ ...folders(root), logDir: join(root, 'log/desk') }, sound);
  assert.deepEqual(disks, { data: null, papers: null, log: 'failing' });
});

test('a full and a read-only disk each report their own folder', async (t) => {
  const root = tempFolder(t);
  const { distDir, logDir } = folders(root);
  mkdirSync(distDir);
  mkdirSync(logDir);
  const mounted = [mount(distDir, 'size=512k'), mount(logDir, 'size=512k,ro')];
  try {
    if (mounted.includes(false)) return t.skip('needs the right to mount');
    const before = await diskStates(folders(root), sound);
    assert.deepEqual(before, { data: null, papers: null, log: 'read_only' });
    writeFileSync(join(distDir, 'page.html'), Buffer.alloc(480 * 1024));
    const full = await diskStates(folders(root), sound);
    assert.deepEqual(full, { data: null, papers: 'full', log: 'read_only' });
    assert.equal(anyDiskState(full), 'full');
  } finally {
    for (const folder of [distDir, logDir]) spawnSync('umount', [folder]);
  }
});

const mount = (folder: string, options: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;

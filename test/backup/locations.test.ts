import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readSettings } from '../../src/server/env.ts';
import { writeBackupFile } from '../../src/shared/storage/backup-file.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { PROGRAM, run, start } from '../support/program.ts';
import { BUCKET, CREDENTIALS } from '../support/s3-server.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { AT, backUp, faultOf } from './backups.ts';

// Where a backup may be written, and what becomes of what is there.

const hooks: (() => void)[] = [];
const folder = tempFolder({ after: (hook) => void hooks.push(hook) });
const settings = readSettings(envIn(folder));
before(() => enterPapers(folder, [{ slug: 'tide-table' }]));
after(() => {
  for (const hook of hooks) hook();
});

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

test('a pipe or a device is never replaced by a file', { skip: process.platform === 'win32' }, async () => {
  const pipe = join(folder, 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  assert.match(
    await faultOf(backUp(settings, pipe)),
    /pipe: is not a file; name a file or a folder, or write to standard output: backup - > \S+pipe$/,
  );
  assert.ok(lstatSync(pipe).isFIFO());
});

test('a link is followed, and stays', async (t) => {
  const to = tempFolder(t);
  mkdirSync(join(to, 'disk'));
  writeFileSync(join(to, 'disk/today'), 'old');
  symlinkSync('disk/today', join(to, 'latest'));
  symlinkSync('disk/none', join(to, 'next'));
  for (const [link, file] of [
    ['latest', 'disk/today'],
    ['next', 'disk/none'],
  ] as const) {
    await backUp(settings, join(to, link));
    assert.ok(lstatSync(join(to, link)).isSymbolicLink());
    assert.ok(lstatSync(join(to, file)).size > 1_000);
  }
  symlinkSync('round', join(to, 'round'));
  assert.match(await faultOf(backUp(settings, join(to, 'round'))), /cannot be written \(ELOOP/);
});

test('no link and no setting leads a backup to where readers see it', async (t) => {
  const to = tempFolder(t);
  mkdirSync(settings.distDir, { recursive: true });
  symlinkSync(settings.distDir, join(to, 'link'));
  symlinkSync(join(settings.distDir, 'x'), join(to, 'file'));
  for (const path of ['link', 'link/', 'link/a/b', 'file'])
    assert.match(await faultOf(backUp(settings, join(to, path))), /must not be within DIST_DIR/, path);
  // The other way round: the folder of the setting is a link.
  mkdirSync(join(to, 'www'));
  symlinkSync('www', join(to, 'public'));
  const linked = { ...settings, distDir: join(to, 'public') };
  assert.match(await faultOf(backUp(linked, join(to, 'www/x'))), /must not be within DIST_DIR/);

  const published = { ...settings, publishUrl: join(to, 'www') };
  assert.match(
    await faultOf(backUp(published, join(to, 'www/sub/x'))),
    /must not be within the folder of PUBLISH_URL, \S+www; name a place for x elsewhere/,
  );
  const storage = { ...settings.objectStorage, ...CREDENTIALS, endpoint: 'https://s3.example.net' };
  const bucket = { ...settings, objectStorage: storage, publishUrl: `s3://${BUCKET}/site` };
  assert.match(
    await faultOf(backUp(bucket, `s3://${BUCKET}/backups/a`)),
    /^s3:\S+: must not be in papers, the bucket of PUBLISH_URL, which readers see; name a private bucket$/,
  );
  assert.deepEqual(readdirSync(settings.distDir), []);
  assert.deepEqual(readdirSync(join(to, 'www')), []);
});

test('only the remains of dead backups are removed', async (t) => {
  const to = tempFolder(t);
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  let own = '';
  const watched = async function* (): AsyncIterable<Uint8Array> {
    own = readdirSync(to).find((name) => name.endsWith('.part')) ?? '';
    yield Buffer.from('x');
  };
  await writeBackupFile(join(to, 'a'), watched());
  const [, machine] = /^\.broadsheet-backup\.([0-9a-f]{12})\.\d+\.[0-9a-f]{8}\.part$/.exec(own) ?? [];
  assert.ok(machine, own);
  const other = 'f'.repeat(12);
  const names = {
    [`.broadsheet-backup.${machine}.${dead}.00000000.part`]: false,
    [`.broadsheet-backup.${machine}.${process.ppid}.00000000.part`]: true,
    // Another container's process, which may be at work, has a number of its own.
    [`.broadsheet-backup.${other}.${dead}.00000000.part`]: true,
    [`.broadsheet-backup.${other}.${dead}.00000001.part`]: false,
    [`.somebody.${dead}.part`]: true,
  };
  for (const name of Object.keys(names)) writeFileSync(join(to, name), '');
  utimesSync(join(to, `.broadsheet-backup.${other}.${dead}.00000001.part`), 0, 0);
  await writeBackupFile(join(to, 'b'), bytes('x'));
  for (const [name, stays] of Object.entries(names)) assert.equal(existsSync(join(to, name)), stays, name);
});

test('two concurrent backups into one file are both complete', async (t) => {
  const file = join(tempFolder(t), 'b');
  const [one, two] = await Promise.all([
    writeBackupFile(file, bytes('one'.repeat(99))),
    writeBackupFile(file, bytes('two'.repeat(99))),
  ]);
  assert.deepEqual([one, two], [297, 297]);
  assert.match(readFileSync(file, 'utf8'), /^(?:(?:one){99}|(?:two){99})$/);
  assert.equal(readdirSync(join(file, '..')).length, 1);
});

test('a failure of standard output is one line', { skip: ONLY_WIDE || process.platform !== 'linux' }, async (t) => {
  const one =
    /^broadsheet: standard output was closed \((?:write EPIPE|ENOSPC)[^\n]*: the backup is incomplete[^\n]*\n$/;
  const piped = start(t, folder, ['backup', '-']);
  // Long before there is something to write.
  piped.child.stdout?.destroy();
  const { code, stderr } = await piped.ended;
  assert.match(stderr, one);
  assert.equal(code, 1);
  const full = spawnSync('sh', ['-c', '"$1" "$2" backup - > /dev/full', 'sh', process.execPath, PROGRAM], {
    env: { PATH: process.env.PATH, ...envIn(folder) },
    encoding: 'utf8',
  });
  assert.match(full.stderr, one);
  assert.equal(full.status, 1);
});

test('a folder is not restored, and its name is said', async (t) => {
  const to = tempFolder(t);
  const { code, stderr } = await run(t, to, ['restore', to]);
  assert.equal(code, 1);
  assert.match(stderr, /^broadsheet: \S+ is a folder; name a backup in it\n$/);
  assert.ok(!existsSync(join(to, 'var')));
  assert.match(backupLocation(settings, to, AT).name, /broadsheet-2026-11-20T09-30-00Z\.tar\.zst$/);
});

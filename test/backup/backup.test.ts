import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { manifestText } from '../../src/operate/backup/manifest.ts';
import { pack } from '../../src/operate/backup/pack.ts';
import { drill, restore } from '../../src/operate/backup/restore.ts';
import { unpack } from '../../src/operate/backup/unpack.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { TIMES } from '../support/properties.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { AT, backUp, faultOf } from './backups.ts';

const hooks: (() => void)[] = [];
const folder = tempFolder({ after: (hook) => void hooks.push(hook) });
const settings = readSettings(
  envIn(folder, {
    MAIL_FROM: 'desk@example.org',
    DKIM_KEY_FILE: join(folder, 'dkim.pem'),
    DKIM_SELECTOR: 'a',
  }),
);
const file = join(folder, 'backups/today.tar.zst');

before(async () => {
  await enterPapers(folder, [{ slug: 'tide-table' }, { slug: 'quiet-paper', isPublic: false }]);
  writeFileSync(join(folder, 'dkim.pem'), 'a key for mails\n');
  writeFileSync(join(folder, 'var/readers.key'), 'a key for links\n');
  writeFileSync(join(folder, 'var/notes.txt'), 'not part of a backup\n');
  await backUp(settings, file);
});
after(() => {
  for (const hook of hooks) hook();
});

const restoredTo = (to: string, from = file) => restore(backupLocation(settings, from, AT), to, () => {});

/** What the ledger says, row for row. */
function entriesIn(dataDir: string): string {
  const app = openAppContext({ ...settings, dataDir });
  try {
    assert.deepEqual(app.store.database.integrity(), []);
    return JSON.stringify([...app.store.desk.entries()]);
  } finally {
    app.close();
  }
}

test('a restored folder has the ledger, the keys, the media and the files that settings name', async (t) => {
  const to = join(tempFolder(t), 'machine/var');
  const { files, manifest } = await restoredTo(to);
  assert.deepEqual(files.sort(), ['broadsheet.db', 'door.key', 'readers.key', 'settings/DKIM_KEY_FILE']);
  assert.deepEqual(manifest.settings, ['ORIGIN']);
  assert.equal(entriesIn(to), entriesIn(settings.dataDir));
  assert.deepEqual(treeOf(join(to, 'media')), treeOf(join(settings.dataDir, 'media')));
  assert.ok(manifest.media.files >= 2);
  assert.equal(readFileSync(join(to, 'settings/DKIM_KEY_FILE'), 'utf8'), 'a key for mails\n');
  assert.deepEqual(readFileSync(join(to, 'door.key')), readFileSync(join(settings.dataDir, 'door.key')));
  for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
    const info = statSync(join(to, name));
    assert.equal(info.mode & 0o077, 0, `${name} is for its owner alone`);
  }
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(folder, 'backups')), ['today.tar.zst'], 'nothing is left beside it');
});

test('tar, zstd and sha256sum read a backup', { skip: await without('tar', 'zstd', 'sha256sum') }, async (t) => {
  const to = tempFolder(t);
  const { spawnSync } = await import('node:child_process');
  const shell = `tar --zstd -xf "$1" -C "$2" && cd "$2" && sha256sum --quiet -c SHA256SUMS && rm backup.json SHA256SUMS`;
  const { status, stderr } = spawnSync('sh', ['-c', shell, 'sh', file, to], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(entriesIn(to), entriesIn(settings.dataDir));
});

async function without(...programs: string[]): Promise<string | false> {
  const { spawnSync } = await import('node:child_process');
  const missing = programs.find((program) => spawnSync(program, ['--version']).status !== 0);
  return missing === undefined ? false : `${missing} is not installed`;
}

test('a backup truncated or altered anywhere is rejected without a trace', async (t) => {
  const whole = readFileSync(file);
  const looked = async (bytes: Buffer, what: string): Promise<void> => {
    const unpacked = unpack({
      name: 'the copy',
      source: (async function* () {
        for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
      })(),
      begin: () => {},
      async file(_path, _size, content) {
        for await (const _ of content);
      },
    });
    assert.match(await faultOf(unpacked), /^the copy is not a complete backup: .+\); use another copy$/, what);
  };
  const runs = (ONLY_WIDE === false ? 60 : 12) * TIMES;
  const edge = ONLY_WIDE === false ? 24 : 8;
  const locations = [
    ...Array.from({ length: edge }, (_, n) => n),
    ...Array.from({ length: edge }, (_, n) => whole.length - 1 - n),
  ];
  for (let n = 0; n < runs; n++) locations.push(Math.floor((whole.length * (n + 0.5)) / runs));
  for (const at of locations) {
    const altered = Buffer.from(whole);
    altered.writeUInt8(altered.readUInt8(at) ^ (1 << (at % 8)), at);
    // A few bits mean nothing to zstd, such as those of a window's size: then every digest holds.
    await looked(altered, `bit ${at % 8} of byte ${at}`).catch(async (error: Error) => {
      if (!/no fault/.test(error.message)) throw error;
      const to = join(tempFolder(t), 'var');
      writeFileSync(join(folder, 'altered'), altered);
      await restoredTo(to, join(folder, 'altered'));
      assert.equal(entriesIn(to), entriesIn(settings.dataDir));
    });
    if (at < whole.length) await looked(whole.subarray(0, at), `the first ${at} bytes`);
  }
  await looked(Buffer.concat([whole, Buffer.from('x')]), 'one byte more');
  await looked(Buffer.concat([whole, whole]), 'twice');

  const cut = join(folder, 'cut');
  writeFileSync(cut, whole.subarray(0, whole.length - 1));
  const above = tempFolder(t);
  assert.match(await faultOf(restoredTo(join(above, 'a/var'), cut)), /truncated or altered/);
  assert.deepEqual(readdirSync(above), [], 'folders that were made are removed');
  mkdirSync(join(above, 'var'));
  assert.match(await faultOf(restoredTo(join(above, 'var'), cut)), /truncated or altered/);
  assert.deepEqual(readdirSync(join(above, 'var')), []);
});

test('an invalid backup is rejected', async (t) => {
  const to = join(tempFolder(t), 'var');
  const manifest = { broadsheet: '9.9.9', made_at: '2026-11-20T09:30:00.000Z', settings: [], heads: [] };
  const rest = { ...manifest, media: { files: 0, bytes: 0 }, missing: [] };
  const text = manifestText({ ...rest, migrations: ['999-later.sql'] });
  const made = async (files: Record<string, string>): Promise<string> => {
    const packed = Object.entries(files).map(([path, content]) => ({
      ...{ path, size: Buffer.byteLength(content) },
      content: [Buffer.from(content)],
    }));
    await backupLocation(settings, join(folder, 'made'), AT).write(pack(packed, AT));
    return faultOf(restoredTo(to, join(folder, 'made')));
  };
  const newer = /made by a newer Broadsheet \(9\.9\.9\); restore it with that version or a newer one$/;
  assert.match(await made({ 'backup.json': text, 'broadsheet.db': 'x' }), newer);
  assert.match(await made({ 'backup.json': text.replace('"backup": 1', '"backup": 2') }), newer);
  const now = manifestText({ ...rest, migrations: [] });
  for (const path of ['../door.key', '/etc/passwd', 'media/../../x', 'door.key/../x', '.restoring', 'a b.key']) {
    assert.match(await made({ 'backup.json': now, [path]: 'x' }), /is not part of a backup/, path);
  }
  assert.match(await made({ 'broadsheet.db': 'x', 'backup.json': now }), /"broadsheet\.db" is not part of a backup/);
  assert.match(await made({ 'backup.json': 'no JSON' }), /not a complete backup/);
  writeFileSync(join(folder, 'made'), 'PK');
  assert.match(await faultOf(restoredTo(to, join(folder, 'made'))), /not a complete backup/);
  writeFileSync(join(folder, 'made'), '');
  assert.match(await faultOf(restoredTo(to, join(folder, 'made'))), /not a complete backup/);
  assert.match(await faultOf(restoredTo(to, join(folder, 'none'))), /there is no file .*none; name a backup$/);
  assert.match(await faultOf(restoredTo(to, folder)), /is a folder; name a backup in it$/);
  assert.ok(!existsSync(to));
});

test('only an empty folder is restored into', async (t) => {
  const to = tempFolder(t);
  writeFileSync(join(to, 'precious'), '');
  assert.match(await faultOf(restoredTo(to)), /is not empty \(it has precious\); a backup is restored into an empty/);
  assert.deepEqual(readdirSync(to), ['precious']);
  assert.match(await faultOf(restoredTo(settings.dataDir)), /is not empty/);
  rmSync(join(to, 'precious'));
  // A file system of its own.
  mkdirSync(join(to, 'lost+found'));
  await restoredTo(to);
  assert.match(await faultOf(restoredTo(to)), /is not empty \(it has broadsheet\.db\)/);
});

test('an interrupted restore is reported, unusable, and restarted from the beginning', {
  skip: ONLY_WIDE,
}, async (t) => {
  const home = tempFolder(t);
  const to = join(home, 'var');
  for (const put of [[], ['door.key'], ['door.key', 'media/ab/cd']]) {
    mkdirSync(join(to, '.restoring/media'), { recursive: true });
    writeFileSync(join(to, '.restoring/broadsheet.db'), 'half');
    for (const path of put) {
      mkdirSync(join(to, path, '..'), { recursive: true });
      writeFileSync(join(to, path), 'of the interrupted one');
    }
    const { code, stderr } = await run(t, home, ['paper', 'list']);
    assert.equal(code, 1);
    assert.match(stderr, /^broadsheet: a restore into \S+ is under way or was interrupted; [^\n]*\n$/);
    await restoredTo(to);
    assert.equal(entriesIn(to), entriesIn(settings.dataDir));
    assert.deepEqual(treeOf(join(to, 'media')), treeOf(join(settings.dataDir, 'media')));
    rmSync(to, { recursive: true });
  }
});

test('a backup is named after its time in a folder, and never put where readers see it', async (t) => {
  const to = tempFolder(t);
  await backUp(settings, to);
  await backUp(settings, `${to}/new/`);
  assert.deepEqual(readdirSync(to).sort(), ['broadsheet-2026-11-20T09-30-00Z.tar.zst', 'new']);
  for (const [name, path] of [
    ['DATA_DIR', 'var/x'],
    ['DIST_DIR', 'papers/x'],
    ['LOG_DIR', 'log/desk/x'],
  ] as const) {
    assert.match(await faultOf(backUp(settings, join(folder, path))), new RegExp(`must not be within ${name}`));
  }
  const nowhere = { ...settings, dataDir: join(to, 'none') };
  assert.match(await faultOf(backUp(nowhere, join(to, 'x'))), /there is no database \S+; set DATA_DIR/);
  mkdirSync(join(to, 'a.tar'));
  assert.match(await faultOf(backUp(settings, join(file, 'x'))), /cannot be written \(E/);
});

test('missing media are named, and the rest is backed up', async (t) => {
  const home = tempFolder(t);
  await enterPapers(home, [{ slug: 'tide-table' }]);
  const here = readSettings(envIn(home));
  const [path = ''] = [...treeOf(join(home, 'var/media')).keys()];
  rmSync(join(home, 'var/media', path));
  const { missing } = await backUp(here, join(home, 'b'));
  assert.equal(missing.length, 1);
  const { code, stderr, stdout } = await run(t, home, ['backup', join(home, 'c')]);
  assert.equal(code, 1);
  assert.match(stderr, /^sha256:[0-9a-f]{64}: the ledger names this media file, but DATA_DIR does not have it\n$/);
  assert.match(stdout, /^backed up to /);
  const found = await drill(here, backupLocation(here, join(home, 'c'), AT), { restored: () => {}, audited: () => {} });
  assert.match(found.faults.join('\n'), /its bytes in DATA_DIR are missing/);
});

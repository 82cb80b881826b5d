import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PROJECT } from '../../src/project.ts';
import { PackFile } from '../../src/store/press-packs.ts';
import { tempFolder } from '../support/app-context.ts';

test('no byte of the file ends the process', (t) => {
  const file = join(tempFolder(t), 'cache', 'a.db');
  const packs = new PackFile(file, 'code');
  packs.add(['a'], Buffer.from('one'));
  packs.close();
  const sound = readFileSync(file);
  const bytes = [...sound.keys()].filter((at) => sound[at] !== 0);
  assert.ok(bytes.length > 300);
  for (const at of bytes) {
    const damaged = Buffer.from(sound);
    damaged[at] = (damaged[at] ?? 0) ^ 0x80;
    writeFileSync(file, damaged);
    const opened = new PackFile(file, 'code');
    const found = [...opened.packsWith(['a'])];
    assert.ok(found.length <= 1);
    opened.add(['b'], Buffer.from('two'));
    opened.tidy();
    opened.close();
    for (const side of ['', '-wal', '-shm', '-journal']) rmSync(file + side, { force: true });
  }
});

test('two connections write the same cache, and a lock of somebody else keeps nobody waiting', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'cache', 'a.db');
  const [one, two] = [new PackFile(file, 'code'), new PackFile(file, 'code')];
  t.after(() => {
    one.close();
    two.close();
  });
  const pack = (text: string) => Buffer.from(text);
  const said = (found: Iterable<Uint8Array>) => [...found].map((bytes) => Buffer.from(bytes).toString());
  for (let n = 0; n < 50; n++) {
    one.add([`a${n}`, 'shared'], pack(`one ${n}`));
    two.add([`b${n}`, 'shared'], pack(`two ${n}`));
  }
  assert.deepEqual(said(two.packsWith(['a3', 'b7', 'none'])), ['one 3', 'two 7']);
  assert.deepEqual(said(one.packsWith(['shared'])), ['two 49']);
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const before = performance.now();
  for (let n = 0; n < 100; n++) one.add(['a0'], pack('not kept'));
  assert.ok(performance.now() - before < 5_000, 'each write waited for the lock');
  other.exec('ROLLBACK');
  other.close();
  assert.deepEqual(said(two.packsWith(['a0'])), ['one 0'], 'the file was removed');
  two.add(['a0'], pack('kept'));
  assert.deepEqual(said(two.packsWith(['a0'])), ['kept']);
  const all = Array.from({ length: 50 }, (_, n) => [`a${n}`, `b${n}`]).flat();
  two.remove(all.filter((name) => !['a0', 'a3', 'b7'].includes(name)));
  two.tidy();
  assert.deepEqual(said(two.packsWith([...all, 'shared'])), ['one 3', 'two 7', 'two 49', 'kept']);
  const left = new DatabaseSync(file);
  assert.equal(left.prepare('SELECT count(*) AS n FROM packs').get()?.n, 4);
  left.close();
  two.clear();
  assert.ok(!existsSync(file));
});

test('what other code made is removed when its successor opens it', (t) => {
  const file = join(tempFolder(t), 'cache', 'a.db');
  const old = new PackFile(file, 'old');
  old.add(['a'], Buffer.from('old'));
  old.close();
  const next = new PackFile(file, 'new');
  assert.deepEqual([...next.packsWith(['a'])], []);
  next.add(['a'], Buffer.from('new'));
  next.close();
  const again = new PackFile(file, 'new');
  assert.equal(Buffer.from([...again.packsWith(['a'])][0] ?? []).toString(), 'new');
  again.close();
});

/** A process that adds one pack after the other, each for an output of its own and for one that all have. */
function startWriter(file: string, who: string) {
  const module = pathToFileURL(join(PROJECT, 'src/store/press-packs.ts')).href;
  const code = `
    import { PackFile } from ${JSON.stringify(module)};
    const packs = new PackFile(${JSON.stringify(file)}, 'code');
    for (let n = 0; n < 2_000; n++) {
      packs.add(['${who} ' + n, 'shared'], Buffer.alloc(40_000, '${who} ' + n + ';'));
      if (n === 20) console.log('writing');
    }
    packs.close();`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('processes that write at once, and are killed, leave whole packs', async (t) => {
  const file = join(tempFolder(t), 'cache', 'a.db');
  const before = new PackFile(file, 'code');
  before.add(['first'], Buffer.from('first;'));
  before.close();
  for (let round = 0; round < 4; round++) {
    const writers = ['one', 'two'].map((who) => startWriter(file, `${who} ${round}`));
    t.after(() => writers.map((writer) => writer.kill('SIGKILL')));
    await Promise.all(writers.map(({ stdout }) => once(stdout, 'data')));
    await sleep(20 * round);
    for (const writer of writers) writer.kill('SIGKILL');
    await Promise.all(writers.map((writer) => once(writer, 'exit')));
    const packs = new PackFile(file, 'code');
    assert.equal([...packs.packsWith(['first'])].length, 1, 'the file was made anew');
    for (const who of ['one', 'two']) {
      for (let n = 0; n <= 20; n++) {
        const [pack] = packs.packsWith([`${who} ${round} ${n}`]);
        // A writer that found the file locked for long may have given up.
        if (pack !== undefined) assert.ok(Buffer.alloc(40_000, `${who} ${round} ${n};`).equals(pack));
      }
    }
    assert.ok([...packs.packsWith(['one', 'two'].map((who) => `${who} ${round} 0`))].length > 0);
    packs.close();
  }
});

test('a full disk takes nothing, and the file goes', (t) => {
  const disk = join(tempFolder(t), 'disk');
  mkdirSync(disk);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]).status !== 0) {
    return t.skip('only who may mount a small disk can fill one');
  }
  try {
    const file = join(disk, 'a.db');
    const packs = new PackFile(file, 'code');
    for (let n = 0; n < 40; n++) packs.add([`a${n}`], Buffer.alloc(100_000, 7));
    assert.ok(!existsSync(file));
    assert.deepEqual([...packs.packsWith(['a0'])], []);
    packs.tidy();
    packs.close();
    const next = new PackFile(file, 'code');
    next.add(['a0'], Buffer.from('again'));
    assert.equal(Buffer.from([...next.packsWith(['a0'])][0] ?? []).toString(), 'again');
    next.close();
  } finally {
    spawnSync('umount', [disk]);
  }
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder, putFile } from '../../src/shared/files/durable-file.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { NO_STRACE, traced } from '../support/strace.ts';

test('a key and a media file are on the disk, with their names, before the ledger names them', {
  skip: NO_STRACE,
}, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.UTC(2026, 10, 20, 12) });
  const bytes = Buffer.from('a picture');
  const hex = createHash('sha256').update(bytes).digest('hex');
  const trace = await traced(t, process.pid);
  app.store.media.keepBytes(`sha256:${hex}`, bytes);
  createPaper(app);
  // The paper's own commit comes last.
  const calls = await until(() => {
    const all = trace.calls();
    return all.filter(({ name, text }) => /sync/.test(name) && /-wal>/.test(text)).length > 1 ? all : null;
  });
  const at = (what: RegExp, from = 0): number => {
    const found = calls.findIndex(({ name, text }, index) => index >= from && what.test(`${name} ${text}`));
    assert.ok(found >= 0, `${what} is not among the calls`);
    return found;
  };
  for (const [file, path] of [
    ['door.key.next', 'var'],
    [hex, hex.slice(0, 2)],
  ]) {
    const synced = at(new RegExp(`^f(?:data)?sync \\d+<[^>]*/\\.${file}\\.`));
    const named = at(new RegExp(`^(?:rename|link)\\w* .*/${file}"`), synced);
    const kept = at(new RegExp(`^f(?:data)?sync \\d+<[^>]*/${path}>`), named);
    at(/^f(?:data)?sync \d+<[^>]*-wal>/, kept);
  }
  // The key gets its place once the ledger has it.
  const committed = at(/^f(?:data)?sync \d+<[^>]*-wal>/, at(/door\.key\.next"/));
  at(/^rename.*door\.key\.next".*door\.key"/, committed);
});

test('a file is written atomically, and an immutable one stays', (t) => {
  const folder = join(tempFolder(t), 'a/b/c');
  makeFolder(folder, 0o700);
  makeFolder(folder);
  const file = join(folder, 'file');
  const failing = () =>
    putFile(file, (aside) => {
      writeFileSync(aside, 'half');
      throw new Error('the disk is full');
    });
  assert.throws(failing, /the disk is full/);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(
    putFile(file, (aside) => writeFileSync(aside, 'one'), { keeps: true }),
    true,
  );
  assert.equal(
    putFile(file, (aside) => writeFileSync(aside, 'two'), { keeps: true }),
    false,
  );
  assert.equal(readFileSync(file, 'utf8'), 'one');
  putFile(file, (aside) => writeFileSync(aside, 'three'));
  assert.equal(readFileSync(file, 'utf8'), 'three');
  assert.deepEqual(readdirSync(folder), ['file']);
  mkdirSync(join(folder, 'folder'));
  assert.throws(() => putFile(join(folder, 'folder'), (aside) => writeFileSync(aside, 'x')));
  assert.deepEqual(readdirSync(folder).sort(), ['file', 'folder']);
});

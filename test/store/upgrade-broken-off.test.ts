import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { Fault } from '../../src/shared/fault.ts';
import { fillLogs } from '../../src/signing/log/log-fill.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { OLD_VERSIONS, rowsOf, unpackDatabase } from '../support/old-database.ts';
import { TIMES } from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// An upgrade that is broken off at any moment, and run again, ends like one that was not. `.ci/wide` breaks off more.

const CHILD = fileURLToPath(new URL('./upgrade-child.ts', import.meta.url));
const KILLS = 3 * TIMES;
const OLDEST = OLD_VERSIONS[0] ?? '';
const KILLED = TIMES > 1 ? OLD_VERSIONS : [OLDEST];

/** How FTS5 lays out its segments depends on the batches in which they were written; an audit looks into them. */
const LAYOUT = /^(?:sqlite_.+|(?:search|value_words)_(?:data|idx|docsize|content|config))$/;

async function upgrader(t: TestContext, folder: string) {
  const child = fork(CHILD, [join(folder, 'var/broadsheet.db')], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close').then(([code, signal]) =>
    code === 0 || signal !== null ? [code, signal] : [code, said],
  );
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return { child, ended, begin: () => child.send('begin') };
}

async function upgraded(t: TestContext, folder: string): Promise<number> {
  const { ended, begin } = await upgrader(t, folder);
  const start = performance.now();
  begin();
  assert.deepEqual(await ended, [0, null]);
  return performance.now() - start;
}

/** Schema and rows of an upgraded database. */
function stateOf(folder: string) {
  const file = join(folder, 'var/broadsheet.db');
  const store = openStore({ file });
  assert.deepEqual(store.database.integrity(), []);
  assert.deepEqual(store.database.schemaFaults(), []);
  assert.deepEqual(store.desk.ledgerFaults(), []);
  assert.deepEqual(
    store.desk.indexFaults(() => {}),
    [],
  );
  store.database.close();
  const db = new Database(file);
  const schema = db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all();
  db.close();
  return { schema, rows: [...rowsOf(file, (table) => !LAYOUT.test(table))] };
}

/** What an uninterrupted upgrade leaves, and how many ms it takes. */
async function uninterrupted(t: TestContext, version = OLDEST) {
  const folder = tempFolder(t);
  unpackDatabase(version, folder);
  const time = await upgraded(t, folder);
  return { state: stateOf(folder), time };
}

test('an upgrade that is killed at any moment is finished by the next start', { skip: ONLY_WIDE }, async (t) => {
  for (const version of KILLED) {
    const { state, time } = await uninterrupted(t, version);
    for (let n = 0; n < KILLS; n++) {
      const folder = tempFolder(t);
      unpackDatabase(version, folder);
      const delay = randomInt(1_000) * (time / 1_000);
      for (let again = 0; again < 2; again++) {
        const { child, ended, begin } = await upgrader(t, folder);
        begin();
        await sleep(delay);
        child.kill('SIGKILL');
        await ended;
      }
      await upgraded(t, folder);
      const when = `${version}, killed twice after ${delay.toFixed(1)} of ${time.toFixed(1)} ms`;
      assert.deepEqual(stateOf(folder), state, when);
      rmSync(folder, { recursive: true });
    }
  }
});

test('two processes that start concurrently upgrade a database once', { skip: ONLY_WIDE }, async (t) => {
  const { state } = await uninterrupted(t);
  for (let n = 0; n < TIMES; n++) {
    const folder = tempFolder(t);
    unpackDatabase(OLDEST, folder);
    const both = await Promise.all([upgrader(t, folder), upgrader(t, folder)]);
    for (const { begin } of both) begin();
    assert.deepEqual(await Promise.all(both.map(({ ended }) => ended)), [
      [0, null],
      [0, null],
    ]);
    assert.deepEqual(stateOf(folder), state);
  }
});

test('an upgrade for which the disk has no room says so, and is finished when there is room', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { state } = await uninterrupted(t);
  const disk = mkdtempSync(join(tmpdir(), 'broadsheet-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status !== 0) {
    rmdirSync(disk);
    return t.skip('this user may not mount a small disk');
  }
  t.after(() => {
    spawnSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });
  const refused: number[] = [];
  for (const room of TIMES > 1 ? [0, 8, 40, 100, 200, 300, 400, 600, 900, 1_300] : [8, 300, 700]) {
    const folder = mkdtempSync(join(disk, 'a-'));
    const file = unpackDatabase(OLDEST, folder);
    const used = Number(spawnSync('df', ['--output=used', disk], { encoding: 'utf8' }).stdout.split('\n')[1]);
    spawnSync('mount', ['-o', `remount,size=${used + room}k`, disk]);
    try {
      const store = openStore({ file });
      fillLogs(store);
      store.database.close();
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      assert.match(error.message, /cannot be written.*check the disk's space/);
      refused.push(room);
    }
    spawnSync('mount', ['-o', 'remount,size=64m', disk]);
    await upgraded(t, folder);
    assert.deepEqual(stateOf(folder), state, `with ${room} kB`);
  }
  assert.ok(refused.length > 0, `it was refused with ${refused.join(', ')} kB`);
});

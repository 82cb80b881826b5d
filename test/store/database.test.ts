import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { run, runAlone, start, until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const NOW = Date.parse('2026-11-20T12:00:00Z');

/** A folder whose database holds a paper with one piece on air. */
function founded(t: TestContext): string {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOW });
  createPaper(app);
  fileStory(deskOf(app), PAPER, filing('tide'), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'tide', { by: 'cli' });
  app.close();
  return folder;
}

const database = (folder: string): string => join(folder, 'var/broadsheet.db');
const audit = (t: TestContext, folder: string) => run(t, folder, ['audit']);

/** Lines of an archive. */
function archive(folder: string, name: string, count: number): string {
  const file = join(folder, `${name}.jsonl`);
  const { prose, cited_facts } = filing('x');
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      slug: `${name}-${n}`,
      headline: `${name} ${n}`,
      dek: '',
      section: 'Sea',
      published_at: '2019-05-20T00:00:00Z',
      prose,
      cited_facts,
    }),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

test('nothing in the ledger’s tables can be changed or deleted', (t) => {
  const folder = founded(t);
  const app = appContextIn(t, folder, { now: NOW });
  withdrawStory(deskOf(app), PAPER, 'tide', { by: 'cli', reason: 'It was wrong.' });
  app.store.database.transact(() =>
    app.store.desk.append({ type: 'retirement', at: NOW, kid: deskOf(app).signingKey.kid }),
  );
  const db = new Database(database(folder));
  t.after(() => db.close());
  for (const table of ['entries', 'door_keys', 'retirements', 'records', 'generations', 'airings', 'withdrawals']) {
    assert((db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n > 0, table);
    assert.throws(() => db.exec(`DELETE FROM ${table}`), /append-only/, table);
    assert.throws(() => db.exec(`UPDATE ${table} SET n = n + 1000`), /append-only/, table);
  }
});

test('an audit finds changes made behind the ledger’s back', async (t) => {
  const changes: [sql: string, said: RegExp][] = [
    [
      "UPDATE generations SET prose = 'Other.[^1] And.[^2]'",
      /tide: revision 1: content_hash is not the hash of what is stored/,
    ],
    [
      "UPDATE generations SET receipt = replace(receipt, 'filed_by cli', 'filed_by you')",
      /tide: revision 1: the signature does not hold/,
    ],
    ['UPDATE generations SET seq = 7', /seq is 7, not 1/],
    ['UPDATE entries SET at = at + 1', /the receipt says filed_at/],
    ["UPDATE door_keys SET public_key = 'AAAA'", /the kid is not the thumbprint of its public key/],
    ['UPDATE pieces SET revision = 2; UPDATE generations SET revision = 2', /it follows revision none/],
  ];
  for (const [sql, said] of changes) {
    const folder = founded(t);
    const db = new Database(database(folder));
    db.exec(
      'PRAGMA foreign_keys = OFF; DROP TRIGGER generations_fixed; DROP TRIGGER entries_fixed; DROP TRIGGER door_keys_fixed',
    );
    db.exec(sql);
    db.close();
    const { code, stdout } = await audit(t, folder);
    assert.match(stdout, said, sql);
    assert.equal(code, 1);
  }
});

test('a database that another process holds is named, with what to do', { skip: ONLY_WIDE }, async (t) => {
  const folder = founded(t);
  const holder = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import Database from 'libsql'; const db = new Database(process.argv[1]); db.exec('BEGIN IMMEDIATE'); console.log('held'); setInterval(() => {}, 1e6);`,
      database(folder),
    ],
    { cwd: PROJECT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const { code, stderr } = await run(t, folder, [
    'import',
    archive(folder, 'a', 1),
    '--paper',
    'quay',
    '--create',
    '--no-press',
  ]);
  assert.equal(
    stderr,
    `broadsheet: the database ${database(folder)} is locked by another process; wait for it or stop it, then try again\n`,
  );
  assert.equal(code, 1);
  holder.kill('SIGKILL');
  await once(holder, 'close');
  assert.equal(
    (await run(t, folder, ['import', archive(folder, 'a', 1), '--paper', 'quay', '--create', '--no-press'])).code,
    0,
  );
});

test('a database of a newer schema is left alone', async (t) => {
  const folder = founded(t);
  const db = new Database(database(folder));
  t.after(() => db.close());
  db.exec("DELETE FROM migrations WHERE name > '003'; INSERT INTO migrations VALUES ('999-future.sql')");
  const state = () =>
    JSON.stringify(['migrations', 'sqlite_schema'].map((table) => db.prepare(`SELECT * FROM ${table}`).all()));
  const before = state();
  const { code, stderr } = await audit(t, folder);
  assert.equal(
    stderr,
    `broadsheet: the database ${database(folder)} was made by a newer Broadsheet (it has 999-future.sql); run that one, or restore the backup from before the upgrade\n`,
  );
  assert.equal(code, 1);
  assert(state() === before, 'the database was changed');
});

test('a file that is not a database, and one with a broken page, are named', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var'));
  writeFileSync(database(folder), 'This is not a database, though it is longer than a header. '.repeat(99));
  const none = await audit(t, folder);
  assert.match(
    none.stderr,
    /^broadsheet: \S+broadsheet\.db is not a sound database \(.*\); restore it from a ledger export or a backup\n$/,
  );
  assert.equal(none.code, 1);

  const broken = founded(t);
  const db = new Database(database(broken));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const file = openSync(database(broken), 'r+');
  for (let page = 3; page * 4096 < readFileSync(database(broken)).length; page++)
    writeSync(file, Buffer.alloc(64, 0xff), 0, 64, page * 4096);
  const { code, stdout, stderr } = await audit(t, broken);
  assert.match(stdout + stderr, /malformed|database: /);
  assert.doesNotMatch(stderr, /\n {4}at /, 'no stack is shown');
  assert.equal(code, 1);
});

test('a data folder that cannot be written is named', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'var'), 'a file stands here');
  const { code, stderr } = await audit(t, folder);
  assert.match(
    stderr,
    /^broadsheet: the database \S+broadsheet\.db cannot be written \((?:ENOTDIR|EEXIST).*\); check the disk's space and the folder's permissions\n$/,
  );
  assert.equal(code, 1);
});

test('a damaged signing key file is named, and not replaced', async (t) => {
  const folder = founded(t);
  const file = join(folder, 'var/door.key');
  const whole = readFileSync(file, 'utf8');
  const { name, kid } = JSON.parse(whole) as { name: string; kid: string };
  for (const text of [
    '',
    whole.slice(0, 40),
    '{}',
    JSON.stringify({ name, kid, seed: 'AAAA' }),
    JSON.stringify({ name, kid, seed: Buffer.alloc(32).toString('base64') }),
  ]) {
    writeFileSync(file, text);
    const { code, stderr } = await run(t, folder, [
      'import',
      archive(folder, 'a', 1),
      '--paper',
      'quay',
      '--create',
      '--no-press',
    ]);
    assert.match(
      stderr,
      /^broadsheet: the signing key file \S+door\.key cannot be read \(.+\); restore it from a backup, or move it away to have a new key made\n$/,
      text,
    );
    assert.equal(code, 1);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
});

test('processes that file concurrently on a new database all succeed, and the ledger has no gap', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const names = ['a', 'b', 'c'];
  const files = names.map((name) => archive(folder, name, 60));
  const outcomes = await Promise.all(
    files.map((file, n) =>
      runAlone(t, folder, ['import', file, '--paper', n === 2 ? 'other' : 'quay', '--create', '--air', '--no-press']),
    ),
  );
  for (const { code, stderr } of outcomes) assert.equal(code, 0, stderr);
  const { stdout } = await audit(t, folder);
  assert.match(stdout, /^180 generations, \d+ leaves and 0 files audited, 2 faults$/m);
  assert.doesNotMatch(stdout, /revision|seq|key/);
  const app = appContextIn(t, folder, { now: Date.now() });
  assert.equal(app.store.desk.signingKeys().length, 1, 'one door key was made');
  assert.equal(app.store.desk.archive('quay').latest({ limit: 999 }).length, 120);
});

test('a process that is killed while it files leaves a sound ledger, and the next one finishes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const file = archive(folder, 'a', 900);
  const args = ['import', file, '--paper', 'quay', '--create', '--air', '--no-press'];
  const app = appContextIn(t, folder, { now: Date.now() });
  const count = (): number => [...app.store.desk.entries()].filter(({ type }) => type === 'generation').length;
  const killed = start(t, folder, args);
  await until(() => (count() > 0 || killed.child.exitCode !== null ? true : null));
  killed.child.kill('SIGKILL');
  await killed.ended;
  const filed = count();
  assert(filed > 0);
  t.diagnostic(`killed after ${filed} of 900`);
  assert.doesNotMatch((await audit(t, folder)).stdout, /revision|seq|key/);
  const { code, stdout } = await run(t, folder, args);
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^${900 - filed} filed, ${filed} unchanged, 0 refused`));
  assert.match((await audit(t, folder)).stdout, /^900 generations, \d+ leaves and 0 files audited, 1 fault$/m);
});

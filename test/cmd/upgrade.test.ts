import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { planUpgrade, type Upgrade } from '../../src/operate/doctor/upgrade.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { makeNewer, rowsOf, unpackDatabase } from '../support/old-database.ts';
import { copyDemo, DEMO_ORIGINS, run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// What a new version says before it changes a database, and what it does with one of a version that is newer still.

const COMMANDS = [
  ['serve'],
  ['file'],
  ['press'],
  ['audit'],
  ['doctor', '--upgrade'],
  ['backup', '-'],
  ['publish'],
  ['scan', 'a.example'],
];
/** These open the database in the same way; the nightly run tries them too. */
const OTHERS = [
  ['import', 'a.jsonl', '--paper', 'harbor-ledger'],
  ['air', 'a', '--paper', 'harbor-ledger'],
  ['withdraw', 'a', '--paper', 'harbor-ledger', '--reason', 'x'],
  ['account', 'show', 'a@b.example'],
  ['credits', 'add', 'a@b.example', '5'],
  ['reader', 'erase', 'a@b.example', '--paper', 'harbor-ledger'],
  ['seat', 'list', '--paper', 'harbor-ledger'],
  ['webhook', 'list', '--paper', 'harbor-ledger'],
  ['key', 'rotate'],
  ['paper', 'remove', 'harbor-ledger'],
  ['paper', 'list'],
  ['key', 'list'],
  ['ledger', 'export', 'ledger.jsonl'],
  ['log', 'status'],
  ['opt-out', 'a.example', '--reason', 'x'],
  ['watch', 'a.example'],
];

test('a database of a newer version is refused with one line, and not a byte changes', async (t) => {
  const folder = tempFolder(t);
  makeNewer(unpackDatabase('0.1.0', folder));
  cpSync('content', join(folder, 'content'), { recursive: true });
  const before = treeOf(folder);
  const target = { PUBLISH_URL: join(folder, 'bucket') };
  await Promise.all(
    [...COMMANDS, ...(process.env.WHOLE_CORPUS === undefined ? [] : OTHERS)].map(async (args) => {
      const { code, stdout, stderr } = await run(t, folder, args, target);
      assert.equal(code, 1, args.join(' '));
      assert.equal(stdout, '', args.join(' '));
      assert.match(
        stderr.replace(/^\{.*\}\n/gm, ''),
        /^broadsheet: the database \S+ was made by a newer Broadsheet \(it has 999-of-tomorrow\.sql\); run that one, or restore the backup from before the upgrade\n$/,
        args.join(' '),
      );
    }),
  );
  const { code, stdout } = await run(t, folder, ['doctor'], { RESOLVERS: '127.0.0.1:9' });
  assert.equal(code, 1);
  assert.match(stdout, /FAULT database: .*made by a newer Broadsheet.*\n +run that one/);
  assert.deepEqual([...treeOf(folder)], [...before], 'no file came, went or changed');
});

test('a database of another program is rejected unchanged', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var'));
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec('CREATE TABLE recipes (a TEXT)');
  db.close();
  const before = treeOf(folder);
  const { code, stderr } = await run(t, folder, ['audit']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^broadsheet: \S+broadsheet\.db is a database of another program; set DATA_DIR to another folder\n$/,
  );
  assert.deepEqual([...treeOf(folder)], [...before]);
});

test('doctor --upgrade says what changes, changes nothing, and then that is what changes', async (t) => {
  const folder = tempFolder(t);
  const file = unpackDatabase('0.1.0', folder);
  const before = treeOf(folder);
  const { code, stdout } = await run(t, folder, ['doctor', '--upgrade', '--json']);
  assert.equal(code, 0);
  const plan = JSON.parse(stdout) as Upgrade;
  assert.deepEqual([...treeOf(folder)], [...before], 'nothing came, went or changed');
  const said = await run(t, folder, ['doctor', '--upgrade']);
  assert.match(said.stdout, /092-pages: Records gain a kind \(5 rows of records\)/);
  assert.match(said.stdout, /Nothing was changed\n$/);
  assert.equal(said.stderr, '');
  assert.equal(
    (await run(t, folder, ['doctor'], { RESOLVERS: '127.0.0.1:9' })).stdout.match(/older version/g)?.length,
    1,
  );
  assert.deepEqual([...treeOf(folder)], [...before], 'nor does a plain check upgrade it');

  const app = openAppContext(readSettings(envIn(folder)));
  t.after(() => app.close());
  const done = [...rowsOf(file, (table) => table === 'migrations').values()].flat();
  assert.equal(done.length, plan.applied + plan.migrations.length);
  assert.ok(plan.migrations.every(({ name }) => done.some((row) => row.name === `${name}.sql`)));
  app.signer.open();
  const fills = new Map(plan.fills.map(({ name, rows }) => [name, rows]));
  assert.equal(fills.get('log of the desk'), app.store.database.log.size('desk'));
  assert.equal(fills.get('log of the records'), app.store.database.log.size('records'));
  assert.deepEqual(
    plan.presses.map(({ paper, reasons }) => [paper, reasons]),
    [['harbor-ledger', ['missing']]],
  );
  const after = planUpgrade(app.settings);
  assert.deepEqual(
    [after.migrations, after.fills.map(({ name }) => name)],
    [[], ['index of values']],
    'only what is done behind the server is left',
  );
});

test('doctor --upgrade changes neither database nor write-ahead log after a crash', async (t) => {
  const [crashed, folder] = [tempFolder(t), tempFolder(t)];
  const db = new Database(unpackDatabase('0.1.0', crashed));
  db.exec('PRAGMA journal_mode = WAL');
  db.exec("INSERT INTO migrations VALUES ('092-pages.sql')");
  // What a server that was killed leaves.
  cpSync(join(crashed, 'var'), join(folder, 'var'), { recursive: true });
  db.close();
  const kept = () => [...treeOf(folder)].filter(([path]) => !path.endsWith('-shm'));
  const before = kept();
  const { code, stdout } = await run(t, folder, ['doctor', '--upgrade', '--json']);
  assert.equal(code, 0);
  assert.ok(!stdout.includes('"092-pages"'), 'what is only in the log of writes is read');
  assert.deepEqual(kept(), before);
});

test('pages are announced for the reason for which they are pressed', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  if (process.env.PRESSED_DEMO === undefined) return t.skip('npm test presses the demo for this test');
  copyDemo(folder);
  const app = openAppContext(readSettings(envIn(folder, DEMO_ORIGINS)));
  t.after(() => app.close());
  await pressPapers(app);
  const { settings } = app;
  const reasons = (changed: Partial<typeof settings>, code?: string) =>
    planUpgrade({ ...settings, ...changed }, code === undefined ? undefined : () => code).presses.map((press) =>
      press.reasons.join(' '),
    );
  assert.deepEqual(reasons({}), [], 'nothing is owed when all is pressed');
  assert.deepEqual(new Set(reasons({}, 'other')), new Set(['code']));
  const assumed = { ...settings.assumed, origin: false };
  assert.deepEqual(new Set(reasons({ origin: 'https://new.example', assumed })), new Set(['address']));
  assert.deepEqual(new Set(reasons({ hubUrl: 'https://hub.example/' })), new Set(['hub']));
  assert.deepEqual(new Set(reasons({ distDir: join(folder, 'elsewhere') })), new Set(['missing']));
});

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { present } from '../../src/proof/narrow.ts';
import { parseNote } from '../../src/proof/note.ts';
import { signNote } from '../../src/proof/signing.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { publish } from '../support/newsroom.ts';
import { type Outcome, run, type Serving, serve, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// What the operator of a paper can try, and what a stranger's monitor says to it.

const PAPER = 'tide-table';
/** What a paper is on disk; a copy of it is a backup. */
const PARTS = ['var', 'papers', 'log'];
const ONE = 'high-water';

interface Desk {
  folder: string;
  settings: Record<string, string>;
  address: string;
  serving: Serving;
}

async function start(desk: Desk, t: TestContext): Promise<void> {
  desk.serving = await serve(t, desk.folder, desk.settings);
  const size = sizeOf(desk.folder);
  await until(async () => ((await servedSize(desk)) >= size ? true : null));
}

/** The number of leaves in the database. */
function sizeOf(folder: string): number {
  const [row] = rows(folder, "SELECT count(*) AS size FROM log_leaves WHERE log = 'desk'");
  return Number(row?.size);
}

async function servedSize({ serving }: Desk): Promise<number> {
  const response = await fetch(`${serving.url}/log/checkpoint`);
  return response.ok ? parseCheckpoint(await response.text()).size : 0;
}

function database<T>(folder: string, work: (db: InstanceType<typeof Database>) => T): T {
  const db = new Database(join(folder, 'var/broadsheet.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function rows(folder: string, sql: string): Record<string, unknown>[] {
  return database(folder, (db) => db.prepare(sql).all() as Record<string, unknown>[]);
}

/** Changes the database as its operator can: no trigger stands in the way. */
function forge(folder: string, sql: string, ...values: unknown[]): void {
  database(folder, (db) => {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
      name: string;
      sql: string;
    }[];
    db.exec('PRAGMA foreign_keys = OFF');
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    db.prepare(sql).run(...(values as string[]));
    for (const trigger of triggers) db.exec(trigger.sql);
  });
}

function copy(from: string, to: string): void {
  for (const part of PARTS) {
    rmSync(join(to, part), { recursive: true, force: true });
    cpSync(join(from, part), join(to, part), { recursive: true });
  }
}

/** Writes another text in place of a story, in every file of it. */
function rewriteFiles(folder: string, paths: string[]): void {
  for (const path of paths) {
    const file = join(folder, 'papers', PAPER, 'stories', ONE, path);
    const text = readFileSync(file, 'utf8');
    assert(text.includes('One thing is so.'));
    writeFileSync(file, text.replaceAll('One thing is so.', 'No thing is so.'));
  }
}

test('a monitor that a stranger runs finds what the operator changes of yesterday', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }]);
  const settings = { PORT: String(await freePort()), RECORDS_PORT: String(await freePort()), LOG_LEVEL: 'error' };
  const desk: Desk = { folder, settings, address: '', serving: undefined as never };
  await start(desk, t);
  desk.address = `${desk.serving.url}/${PAPER}/`;
  const stranger = tempFolder(t);
  const state = join(stranger, 'state.json');
  const policy = join(stranger, 'policy');
  writeFileSync(policy, await (await fetch(`${desk.serving.url}/log/policy`)).text());
  const look = (...more: string[]): Promise<Outcome> =>
    run(t, stranger, ['monitor', desk.address, '--policy', policy, '--state', state, ...more]);
  const assertFinds = async (said: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await look();
    assert.match(stdout, said, stderr);
    assert.equal(code, 1);
  };
  const assertQuiet = async (): Promise<void> => {
    assert.deepEqual(await look(), { code: 0, signal: null, stdout: '', stderr: '' });
  };

  const first = await look('--verbose');
  assert.match(first.stdout, /^127\.0\.0\.1:\d+\/log: \d+ leaves; \d+ new leaves and 3 pages read\n$/, first.stderr);
  await assertQuiet();
  const records = `${desk.serving.records}/`;
  const other = ['--policy', `${records}log/policy`, '--state', join(stranger, 'records.json'), '--verbose'];
  const ofRecords = await run(t, stranger, ['monitor', records, ...other]);
  assert.match(ofRecords.stdout, /\/log: \d+ lea(?:f|ves); \d+ new lea(?:f|ves) and 0 pages read\n$/, ofRecords.stderr);
  assert.equal(ofRecords.code, 0);
  await desk.serving.stop();
  const yesterday = tempFolder(t);
  copy(folder, yesterday);

  // The desk goes on: the operator adds, and nothing is wrong with that.
  const app = appContextIn({ after() {} }, folder, { now: Date.now() }, { ORIGIN: desk.serving.url });
  publish(app, 'spring-tide', { category: 'Tides', persona: 'vera-holm' }, PAPER);
  const { signer } = deskOf(app).signingKey;
  app.close();
  await start(desk, t);
  await until(async () => ((await fetch(`${desk.address}stories/spring-tide/proof.json`)).ok ? true : null));
  const second = await look('--verbose');
  assert.match(second.stdout, /; [1-9]\d* new leaves and 4 pages read\n$/, second.stderr);
  await desk.serving.stop();
  // The folder's own content would correct what the operator changes.
  for (const name of readdirSync(join(folder, 'content', PAPER, 'stories'))) {
    rmSync(join(folder, 'content', PAPER, 'stories', name));
  }
  const today = tempFolder(t);
  copy(folder, today);
  const again = async (): Promise<void> => {
    if (desk.serving.child.exitCode === null) await desk.serving.stop();
    copy(today, folder);
  };

  await t.test('history rewritten under the same key', async () => {
    const [row] = rows(folder, `SELECT receipt FROM generations WHERE slug = '${ONE}'`);
    const { text } = present(parseNote(String(row?.receipt)));
    const note = signNote(text.replace(/content_hash sha256:.{8}/, 'content_hash sha256:00000000'), signer);
    forge(
      folder,
      'UPDATE log_leaves SET entry = ?, hash = ? WHERE entry = ?',
      note,
      Buffer.from(leafHash(note)),
      row?.receipt,
    );
    for (const table of ['log_heads', 'log_nodes', 'log_cosignatures', 'log_witnesses'])
      forge(folder, `DELETE FROM ${table}`);
    rmSync(join(folder, 'log'), { recursive: true });
    await start(desk, t);
    await assertFinds(
      /^127\.0\.0\.1:\d+\/log: fork: the first \d+ leaves are not those that the log had at [^\n]+; its operator, or somebody with its key, has rewritten history, or shows different readers different logs\n$/,
    );
  });

  await t.test('an older copy restored', async () => {
    await again();
    copy(yesterday, folder);
    await start(desk, t);
    await assertFinds(
      /^127\.0\.0\.1:\d+\/log: shrunken: the log had \d+ leaves at \S+, and has \d+ now; an older copy was restored/,
    );
  });

  await t.test('a story changed without a new revision: its page', async () => {
    await again();
    rewriteFiles(folder, ['index.html']);
    await start(desk, t);
    await assertFinds(
      /^http:\S+\/stories\/high-water\/: altered: the page does not show the text that was signed; readers see something other than what was filed\n$/,
    );
  });

  await t.test('a story changed without a new revision: its page and its proof', async () => {
    await again();
    rewriteFiles(folder, ['index.html', 'proof.json']);
    await start(desk, t);
    await assertFinds(
      /^http:\S+\/stories\/high-water\/: altered: content_hash is not the hash of basis: the piece was altered/,
    );
  });

  await t.test('a page removed', async () => {
    await again();
    forge(folder, `UPDATE pieces SET state = 'draft', published_at = NULL WHERE slug = '${ONE}'`);
    const pressed = await run(t, folder, ['press', '--full'], { ...desk.settings, ORIGIN: desk.serving.url });
    assert.equal(pressed.code, 0, pressed.stderr);
    assert(!existsSync(join(folder, 'papers', PAPER, 'stories', ONE, 'proof.json')));
    await start(desk, t);
    await assertFinds(
      /^http:\S+\/stories\/high-water\/: gone: the page was there at \S+ and is gone, and no leaf withdraws piece \S+ of tide-table; the paper took it away without saying so\n$/,
    );
  });

  await t.test('and nothing, when all is as it was', async () => {
    await again();
    await start(desk, t);
    await assertQuiet();
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { type LogService, parseLeaf } from '../../src/proof/log/leaf.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { databaseFile, signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { fillLog, fillLogs } from '../../src/signing/log/log-fill.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { emptyLogs } from '../support/unfilled-log.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('log-fill-child.ts', import.meta.url));
const NOON = Date.parse('2026-11-20T12:00:00Z');

const entriesOf = (
  {
    store: {
      database: { log },
    },
  }: AppContext,
  service: LogService,
): string[] => log.entries(service, 0, log.size(service));

/** A desk with pieces in every state, and a second, private paper. */
function deskIn(t: TestContext): AppContext {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  createPaper(app);
  const file = (slug: string) => fileStory(deskOf(app), PAPER, filing(slug), { by: 'cli' });
  for (const slug of ['shown', 'gone', 'draft', 'later']) file(slug);
  airStory(deskOf(app), PAPER, 'shown', { by: 'cli' });
  fileStory(deskOf(app), PAPER, filing('shown', { dek: 'Another dek.' }), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'gone', { by: 'cli' });
  withdrawStory(deskOf(app), PAPER, 'gone', { by: 'cli', reason: 'It was wrong.' });
  airStory(deskOf(app), PAPER, 'later', { by: 'cli', at: NOON + 1_000 });
  return app;
}

function setPublic({ store }: AppContext, paper_public: boolean): void {
  const body = { ...(store.desk.record(PAPER, 'paper', '') as object), paper_public };
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: NOON, paper: PAPER, kind: 'paper', name: '', body }),
  );
}

/** Records with observations of some hostnames, and the logs of a database from before. */
function observedIn(t: TestContext, count: number): { app: AppContext; file: string; leaves: string[] } {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  app.signer.open();
  const looks = Array.from({ length: count }, (_, n) => probe(`host-${n}.example`, NOON + n, { A: ['192.0.2.1'] }));
  recordProbes(app, { now: NOON }, looks);
  const file = databaseFile(app.settings);
  const leaves = entriesOf(app, 'records');
  assert.equal(leaves.length, count + 1);
  emptyLogs(file);
  return { app, file, leaves };
}

/** A process that waits for a message to fill the records' log. */
async function filling(t: TestContext, file: string, batch: number): Promise<ChildProcess> {
  const child = fork(CHILD, [file, String(batch)]);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

test('a desk’s past is logged oldest first, as it is public now', (t) => {
  const app = deskIn(t);
  emptyLogs(databaseFile(app.settings));
  fillLogs(app.store);
  const receipts = [...app.store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry] : []));
  const wanted = receipts.map(({ piece, receipt }) => (piece.slug === 'shown' ? receipt : receiptHashLeaf(receipt)));
  const [key, ...leaves] = entriesOf(app, 'desk');
  assert.equal(parseLeaf(key ?? '').kind, 'key');
  assert.deepEqual(leaves, wanted);
  assert.equal(parseLeaf(entriesOf(app, 'records').join()).kind, 'key');
  fillLogs(app.store);
  assert.deepEqual(entriesOf(app, 'desk'), [key, ...leaves], 'a second start changes nothing');
});

test('the past of a private paper is logged as hashes', (t) => {
  const app = deskIn(t);
  setPublic(app, false);
  emptyLogs(databaseFile(app.settings));
  fillLogs(app.store);
  const kinds = entriesOf(app, 'desk').map((entry) => parseLeaf(entry).kind);
  assert.deepEqual([...new Set(kinds)], ['key', 'receipt-hash']);
  setPublic(app, true);
  assert.equal(entriesOf(app, 'desk').length, kinds.length + 2, 'turning public logs what is on air');
});

test('a desk works on after its past was filled in', (t) => {
  const app = deskIn(t);
  emptyLogs(databaseFile(app.settings));
  app.signer.open();
  const before = entriesOf(app, 'desk').length;
  withdrawStory(deskOf(app), PAPER, 'shown', { by: 'cli', reason: 'It was wrong.' });
  airStory(deskOf(app), PAPER, 'gone', { by: 'cli' });
  const kinds = entriesOf(app, 'desk').map((entry) => parseLeaf(entry).kind);
  assert.deepEqual(kinds.slice(before), ['withdrawal', 'receipt']);
});

test('the past of the records is logged by number, in batches, and the same once more', (t) => {
  const { app, leaves } = observedIn(t, 25);
  fillLog(app.store, 'records', () => {}, 10);
  assert.deepEqual(entriesOf(app, 'records'), leaves);
  fillLogs(app.store);
  assert.deepEqual(entriesOf(app, 'records'), leaves);
});

test('a number of observations that fills its batches exactly is logged', (t) => {
  const { app, leaves } = observedIn(t, 20);
  fillLog(app.store, 'records', () => {}, 10);
  assert.deepEqual([entriesOf(app, 'records'), app.store.database.log.isFilled('records')], [leaves, true]);
});

test('a key rotated during the fill is logged, and no observation is skipped', (t) => {
  const { app, leaves } = observedIn(t, 25);
  let isRotated = false;
  const rotate = () => {
    if (isRotated) return;
    isRotated = true;
    rotateSigningKey(app.store, signingKeyFile(app.settings), signingName(app.settings), NOON + 1_000);
  };
  fillLog(app.store, 'records', rotate, 10);
  const filled = entriesOf(app, 'records');
  const added = filled.filter((entry) => !leaves.includes(entry)).map((entry) => parseLeaf(entry).kind);
  assert.deepEqual(added, ['key-retired', 'key']);
  assert.deepEqual(
    filled.filter((entry) => leaves.includes(entry)),
    leaves,
  );
});

test('an observation while the past is filled in is logged once, in its turn', (t) => {
  const { app, leaves } = observedIn(t, 15);
  const look = probe('late.example', NOON + 1_000, { A: ['192.0.2.1'] });
  let isRecorded = false;
  const record = () => {
    if (isRecorded) return;
    isRecorded = true;
    app.signer.open = () => {};
    recordProbes(app, { now: NOON }, [look]);
  };
  fillLog(app.store, 'records', record, 10);
  assert.deepEqual(entriesOf(app, 'records').slice(0, -1), leaves);
  assert.equal(entriesOf(app, 'records').length, leaves.length + 1);
});

test('a process killed during the fill leaves the rest to the next', { skip: ONLY_WIDE }, async (t) => {
  const { app, file, leaves } = observedIn(t, 120);
  const child = await filling(t, file, 2);
  const ended = once(child, 'exit');
  const far = once(child, 'message');
  child.send('go');
  await far;
  child.kill('SIGKILL');
  await ended;
  const size = app.store.database.log.size('records');
  assert.ok(size > 0 && size < leaves.length, `${size} of ${leaves.length}`);
  assert.equal(app.store.database.log.isFilled('records'), false);
  fillLogs(app.store);
  assert.deepEqual(entriesOf(app, 'records'), leaves);
});

test('two processes that start together fill in the past together, each leaf once', { skip: ONLY_WIDE }, async (t) => {
  const { app, file, leaves } = observedIn(t, 120);
  const children = await Promise.all([filling(t, file, 5), filling(t, file, 7)]);
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  await Promise.all(ended);
  assert.deepEqual([entriesOf(app, 'records'), app.store.database.log.isFilled('records')], [leaves, true]);
});

test('the next signer logs the past of an imported ledger', async (t) => {
  const app = deskIn(t);
  const file = join(tempFolder(t), 'ledger.jsonl');
  emptyLogs(databaseFile(app.settings));
  await exportLedger(intakeOf(app), file);
  fillLogs(app.store);
  const copy = appContextIn(t, tempFolder(t), { now: NOON });
  await importLedger(intakeOf(copy), file);
  fillLogs(copy.store);
  for (const service of ['desk', 'records'] as const)
    assert.deepEqual(entriesOf(copy, service), entriesOf(app, service));
});

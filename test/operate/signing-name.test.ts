import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { signingNameEntry } from '../../src/desk/papers/signing-names.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { jwks, keysOf } from '../../src/proof/keyring.ts';
import { parseNote } from '../../src/proof/note.ts';
import { proofFaults, proofOf } from '../../src/proof/proof.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { rotateKey } from '../../src/signing/signing.ts';
import { appContextIn, createPaper, envIn, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { receiptChainFaults } from '../support/records-faults.ts';
import { recordProbes } from '../support/records-fixture.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const BY = { by: 'cli' };
const PUBLIC = { ORIGIN: 'https://papers.example', DATA_ORIGIN: 'https://records.example:8443' };

function stand(t: TestContext, env: Record<string, string> = {}) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock, env);
  createPaper(app);
  return { folder, app, clock };
}

const look = (app: AppContext) => {
  const clock = { now: app.clock.now() };
  recordProbes(app, clock, [probe('harbor.example', clock.now, { A: ['192.0.2.1'] })]);
};
const moveTo = (app: AppContext, folder: string, env: Record<string, string>) => {
  app.settings = readSettings({ ...envIn(folder), ...env });
};
const signers = (receipts: string[]) =>
  receipts.map((receipt) =>
    parseNote(receipt)
      ?.signatures.map(({ name }) => name)
      .join(),
  );
const observed = ({ store }: AppContext) => store.records.receipts(1, 100);
const filed = ({ store }: AppContext) =>
  [...store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry.receipt] : []));
const faultsOf = async (app: AppContext) => (await auditApp(app)).faults.filter((fault) => !/press/.test(fault));

test('each service signs under its own host', async (t) => {
  const { app } = stand(t, PUBLIC);
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  look(app);
  assert.deepEqual(signers(filed(app)), ['papers.example/door']);
  assert.deepEqual(signers(observed(app)), ['records.example:8443/door']);
  const { keys } = jwks(app.store.desk.verifyingKeys('records'));
  assert.deepEqual(
    keys.map(({ vkey }) => vkey.split('+')[0]),
    ['records.example:8443/door'],
    'a name that signed nothing is not listed',
  );
  assert.deepEqual(await faultsOf(app), []);
});

test('a probe that cannot be signed does not undo the name under which the next one of its commit is', async (t) => {
  const { app, clock } = stand(t, PUBLIC);
  const names = ['harbor.example', 'tide.example', 'ebb.example'];
  app.store.records.watch(names.map(parseHostname), clock.now);
  const queue = localQueue(app, 'test');
  const lease = await queue.lease(3);
  const looks = names.map((name) => probe(name, clock.now, { A: ['192.0.2.1'] }));
  const [first] = looks;
  if (first !== undefined) first.at = Number.NaN;
  const outcomes = await queue.submit(lease?.lease ?? '', looks);
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    ['refused', 'recorded', 'recorded'],
  );
  const listed = app.store.desk.verifyingKeys('records').map(({ name }) => name);
  assert.deepEqual([...new Set(signers(observed(app)))], listed);
  assert.deepEqual(await faultsOf(app), []);
});

test('receipts signed under an old name stay verifiable, and the key is listed under both', async (t) => {
  const { app, folder, clock } = stand(t, { ORIGIN: 'http://localhost:4321', DATA_ORIGIN: 'http://localhost:4322' });
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  // As versions signed that had one name for both services.
  const { kid, signer } = app.signer.key('desk');
  append(app.store.desk, signingNameEntry({ service: 'records', kid, name: signer.name, before: null }, clock.now));
  look(app);
  assert.deepEqual(signers(observed(app)), ['localhost:4321/door']);
  moveTo(app, folder, PUBLIC);
  fileStory(deskOf(app), PAPER, { ...filing('tide'), headline: 'Another headline' }, BY);
  look(app);
  assert.deepEqual(signers(filed(app)), ['localhost:4321/door', 'papers.example/door']);
  assert.deepEqual(signers(observed(app)), ['localhost:4321/door', 'records.example:8443/door']);

  const keys = keysOf(jwks(app.store.desk.verifyingKeys('records')));
  assert.deepEqual(receiptChainFaults(observed(app), keys, verifyNode, true), []);
  assert.notDeepEqual(receiptChainFaults(observed(app), keys.slice(1), verifyNode, true), []);
  const archive = app.store.desk.archive(PAPER);
  const story = archive.storyBySlug('tide');
  const piece = archive.piece(story?.id ?? '');
  assert.ok(story !== null && piece !== null);
  const generations = archive.generations(story.id);
  const proof = proofOf(piece, { generations, keys: archive.keys(), keysUrl: '', log: null });
  assert.equal(proof.receipt_verify.key_name, 'papers.example/door');
  assert.equal(proof.receipt_verify.vkeys.length, 2);
  assert.deepEqual(proofFaults(proof, verifyNode), [], 'on its own');
  assert.deepEqual(proofFaults(proof, verifyNode, keysOf(jwks(archive.keys()))), []);
  assert.deepEqual(await faultsOf(app), []);

  const file = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), file);
  const other = appContextIn(t, tempFolder(t), clock, PUBLIC);
  await importLedger(intakeOf(other), file);
  assert.deepEqual(signers(filed(other)), signers(filed(app)));
  assert.deepEqual(jwks(other.store.desk.verifyingKeys('desk')), jwks(app.store.desk.verifyingKeys('desk')));
  assert.deepEqual(await faultsOf(other), []);
});

test('a public name is never replaced by a local address, and survives a rotation', (t) => {
  const { app, folder } = stand(t, PUBLIC);
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  look(app);
  moveTo(app, folder, { ORIGIN: 'http://localhost:1', DATA_ORIGIN: 'http://localhost:2' });
  fileStory(deskOf(app), PAPER, filing('ebb'), BY);
  look(app);
  rotateKey(app);
  fileStory(deskOf(app), PAPER, filing('flood'), BY);
  assert.deepEqual([...new Set(signers(filed(app)))], ['papers.example/door']);
  assert.deepEqual([...new Set(signers(observed(app)))], ['records.example:8443/door']);
});

test('nothing is signed under the name of this machine once something public points at it', (t) => {
  const LOCAL = { ORIGIN: 'http://127.0.0.1:4321', DATA_ORIGIN: 'http://localhost:4322' };
  const { app, folder } = stand(t, LOCAL);
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  look(app);

  moveTo(app, folder, { ...LOCAL, ORIGIN: PUBLIC.ORIGIN });
  fileStory(deskOf(app), PAPER, filing('ebb'), BY);
  const refusal = {
    code: 'unavailable',
    message:
      'nothing is signed: the receipts would be by localhost:4322/door, an address of this machine, though ORIGIN is https://papers.example; set DATA_ORIGIN to the public address of the domain records',
  };
  assert.throws(() => look(app), refusal);
  assert.equal(observed(app).length, 1);

  const other = stand(t, { ...LOCAL, DATA_ORIGIN: PUBLIC.DATA_ORIGIN });
  look(other.app);
  assert.throws(
    () => fileStory(deskOf(other.app), PAPER, filing('ebb'), BY),
    /though DATA_ORIGIN is .*; set ORIGIN to/,
  );

  const elsewhere = 's3://papers/x?region=eu&endpoint=https://s3.example.net';
  moveTo(other.app, other.folder, { ...LOCAL, PUBLISH_URL: elsewhere });
  assert.throws(
    () => fileStory(deskOf(other.app), PAPER, filing('ebb'), BY),
    /though PUBLISH_URL names s3\.example\.net; set ORIGIN/,
  );
  moveTo(other.app, other.folder, {
    ...LOCAL,
    PUBLISH_URL: elsewhere.replace('https://s3.example.net', 'http://127.0.0.1:9'),
  });
  fileStory(deskOf(other.app), PAPER, filing('ebb'), BY);
});

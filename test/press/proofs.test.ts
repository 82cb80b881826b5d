import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { Edition, siteOf } from '../../src/desk/press/edition.ts';
import { printPath } from '../../src/desk/press/outputs/all.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { verifiedLines, verifyAt } from '../../src/operate/audit/verify.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { type FactDocument, factFaults } from '../../src/proof/fact-document.ts';
import { nodeCrypto } from '../../src/proof/log/node-crypto.ts';
import { verifyTlogProof } from '../../src/proof/log/verify.ts';
import { type Proof, proofFaults } from '../../src/proof/proof.ts';
import { deskOf } from '../../src/server/context.ts';
import { filing, PAPER, treeOf } from '../support/app-context.ts';
import { cosignAll } from '../support/cosign-all.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { LogHeads } from '../support/log-heads.ts';
import { publish, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

const proofPath = (slug: string): string => `stories/${slug}/proof.json`;
const proofIn = (tree: string, slug: string) => JSON.parse(readFileSync(join(tree, proofPath(slug)), 'utf8')) as Proof;

/** The paths of files that differ between two trees. */
function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...after.keys()].filter((path) => before.get(path) !== after.get(path)).sort();
}

test('a head that gets its quorum presses the proofs of what it covers, and nothing else', async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  assert.equal(proofIn(tree, 'piece-0').log, null, 'before');
  const before = treeOf(tree);
  cosignAll(app);
  const report = (await pressPapers(app, { cards: false })).get(PAPER);
  const first = treeOf(tree);
  assert.deepEqual(
    changed(before, first),
    [0, 1, 2].map((piece) => proofPath(`piece-${piece}`)),
  );
  assert.equal(report?.outputs, 3);

  const proof = proofIn(tree, 'piece-0');
  const { policy, origin } = new LogHeads(app.store.database.log, 'desk');
  assert.equal(proof.log?.origin, origin);
  const { cosigners } = await verifyTlogProof(proof.receipt, proof.log?.tlog_proof ?? '', policy, nodeCrypto);
  assert.deepEqual(
    cosigners.map(({ witness }) => witness.name),
    ['w1'],
  );
  assert.deepEqual(proofFaults(proof, verifyNode), []);

  publish(app, 'late', START);
  await pressPapers(app, { cards: false });
  const second = treeOf(tree);
  assert.equal(proofIn(tree, 'late').log, null);
  cosignAll(app);
  await pressPapers(app, { cards: false });
  assert.deepEqual(changed(second, treeOf(tree)), [proofPath('late')], 'proofs that were given out stay');
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('the document of a fact proves that the log has it, as soon as a head over it has its quorum', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 1);
  const entry = { source: 'Port Authority', instrument: 'A map' };
  const cited_facts = ['pier', 'quay'].map((claim_key, at) => ({
    ...entry,
    ...{ n: at + 1, claim_key, statement: `The ${claim_key} is long.`, source: at === 0 ? 'Port Authority' : 'NIST' },
  }));
  fileStory(deskOf(app), PAPER, filing('harbour', { cited_facts }), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'harbour', { by: 'cli' });
  const press = () => pressPapers(app, { cards: false });
  await press();
  const file = join(tree, 'facts/pier.json');
  const document = () => JSON.parse(readFileSync(file, 'utf8')) as FactDocument;
  assert.equal(document().log, null, 'before');
  const before = treeOf(tree);
  cosignAll(app);
  await press();
  const proofs = [proofPath('harbour'), proofPath('piece-0')];
  assert.deepEqual(changed(before, treeOf(tree)), ['facts/pier.json', 'facts/quay.json', ...proofs]);
  assert.deepEqual(factFaults(document(), verifyNode), []);
  const { policy } = new LogHeads(app.store.database.log, 'desk');
  const [checked] = await verifyAt(file, { policy });
  assert.deepEqual([checked?.faults, [checked?.logged].flat()[0]?.cosigned_by[0]?.name], [[], 'w1']);
  const lines = verifiedLines(file, [checked as NonNullable<typeof checked>], { policy });
  assert.match(lines.join('\n'), /^pier version 1: leaf \d+ of .*, cosigned by w1 at /m);

  correctFact(deskOf(app), PAPER, 'pier', { version: 1, statement: 'It is short.', note: 'A slip.', by: 'cli' });
  await press();
  assert.equal(document().log, null, 'of the newest version');
  assert.match((await verifyAt(file, { policy }))[0]?.faults.join() ?? '', /^log: there is no proof that the receipt/);
  const corrected = treeOf(tree);
  cosignAll(app);
  await press();
  assert.deepEqual(changed(corrected, treeOf(tree)), ['facts/pier.json'], 'proofs that were given out stay');
  assert.deepEqual((await verifyAt(file, { policy }))[0]?.faults, []);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a revision has no proof until a head covers it; a withdrawn piece has no proof.json', async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  cosignAll(app);
  await pressPapers(app, { cards: false });
  fileStory(deskOf(app), PAPER, filing('piece-0', { headline: 'Another headline' }), { by: 'cli' });
  await pressPapers(app, { cards: false });
  assert.equal(proofIn(tree, 'piece-0').log, null);
  cosignAll(app);
  withdrawStory(deskOf(app), PAPER, 'piece-1', { by: 'cli', reason: 'It was wrong.' });
  await pressPapers(app, { cards: false });
  assert.deepEqual(proofFaults(proofIn(tree, 'piece-0'), verifyNode), []);
  assert.notEqual(proofIn(tree, 'piece-0').log, null);
  assert(!existsSync(join(tree, proofPath('piece-1'))));
  airStory(deskOf(app), PAPER, 'piece-1', { by: 'cli' });
  await pressPapers(app, { cards: false });
  assert.notEqual(proofIn(tree, 'piece-1').log, null, 'the receipt is in the log already');
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a full press keeps a file that an earlier version printed in another output', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  const [file] = manifest.files(PAPER, 'proof/piece-0');
  assert(file !== undefined);
  app.store.database.transact(() => {
    manifest.drop(PAPER, 'proof/piece-0');
    manifest.record(PAPER, [{ name: 'story/piece-0', dependencies: '', changed: [file], gone: [], written: 1 }]);
    manifest.setStamp(PAPER, 'an earlier version');
  });
  await pressPapers(app, { cards: false });
  assert(existsSync(join(tree, proofPath('piece-0'))));
  assert.deepEqual(
    manifest.files(PAPER, 'story/piece-0').filter(({ path }) => path === file.path),
    [],
  );
});

test('each file of a tree is the same when it is printed alone, as for a private paper', async (t) => {
  const { app, clock, tree } = await paperOf(t, 3);
  cosignAll(app);
  await pressPapers(app, { cards: false });
  const { render, assets } = await loadBuild();
  const edition = new Edition(app.store.desk.archive(PAPER), siteOf(`${app.settings.origin}/${PAPER}`));
  for (const [path, bytes] of treeOf(tree)) {
    if (path === '_headers') continue;
    const found = await printPath(edition, path, { render, assets, pictures: app.store.pictures, now: clock.now });
    assert(found !== null, path);
    if ('body' in found) assert.equal(Buffer.from(found.body).toString('latin1'), bytes, path);
  }
});

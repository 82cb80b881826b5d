import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AppContext } from '../../src/app/context.ts';
import { pressPapers } from '../../src/app/press-run.ts';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/filing.ts';
import { sha256 } from '../../src/ledger/basis.ts';
import type { Proof } from '../../src/ledger/proof.ts';
import { isProofText, proofText } from '../../src/press/proof-text.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';

const PROOF = 'stories/tide/proof.json';
const TEXT = 'The tide was “late”.[^1]\n\n",\n  "receipt": "x"\n}\n[^2]';

/** A paper with one piece, pressed. */
async function pressed(t: { after(work: () => void): void }) {
  const folder = tempFolder(t);
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  fileStory(app.desk, PAPER, filing('tide', { prose: TEXT }), { by: 'cli' });
  airStory(app.desk, PAPER, 'tide', { by: 'cli', at: clock.now });
  await pressPapers(app, { cards: false });
  return { app, clock, folder, file: join(folder, 'papers', PAPER, PROOF) };
}

/** Changes the basis in a proof, and what the manifest says of it: no press can tell it from one of its own. */
function forge({ store }: AppContext, file: string): void {
  const bytes = Buffer.from(readFileSync(file, 'utf8').replace('"prose": "', '$&FORGED '));
  writeFileSync(file, bytes);
  const changed = [{ path: PROOF, digest: sha256(bytes) }];
  store.manifest.record(PAPER, [{ name: 'proof/tide', tags: 'forged', exists: true, changed, gone: [] }]);
}

const isForged = (file: string) => readFileSync(file, 'utf8').includes('FORGED');

test('a full press keeps a proof whose claims are as before, as long as the same code makes it', async (t) => {
  const { app, clock, folder, file } = await pressed(t);
  forge(app, file);
  await pressPapers(app, { full: true, cards: false });
  assert.ok(isForged(file), 'the proof was made again');
  app.store.manifest.setProseCode(PAPER, 'another version');
  await pressPapers(app, { full: true, cards: false });
  assert.ok(!isForged(file), 'a proof of another version was kept');
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
});

test('a damaged proof is written anew, and one of another revision is not taken', async (t) => {
  const { app, clock, folder, file } = await pressed(t);
  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, sound.replace('"prose": "', '$&DAMAGED '));
  await pressPapers(app, { full: true, cards: false });
  assert.equal(readFileSync(file, 'utf8'), sound);
  forge(app, file);
  clock.now += 1_000;
  fileStory(app.desk, PAPER, filing('tide', { prose: 'The tide was early.[^1] So.[^2]' }), { by: 'cli' });
  await pressPapers(app, { full: true, cards: false });
  assert.match(readFileSync(file, 'utf8'), /The tide was early/);
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
});

test('any other claim is seen', async (t) => {
  const { app, file } = await pressed(t);
  const archive = app.store.archive(PAPER);
  const piece = archive.storyBySlug('tide');
  assert.ok(piece !== null);
  const generations = archive.generations(piece.id);
  const keysUrl = (JSON.parse(readFileSync(file, 'utf8')) as Proof).receipt_verify.keys_url;
  const sources = { generations, keys: archive.keys(), keysUrl, log: archive.logProof(generations[0]?.receipt ?? '') };
  const bytes = readFileSync(file);
  assert.equal(proofText(piece, sources), bytes.toString());
  assert.ok(isProofText(bytes, piece, sources));
  const log = { origin: 'o', index: 1, tlog_proof: 'p' };
  for (const other of [
    { keysUrl: 'https://other.example' },
    { log },
    { generations: [...generations, ...generations] },
  ])
    assert.ok(!isProofText(bytes, piece, { ...sources, ...other }), Object.keys(other).join());
  for (const other of [{ id: '01jd000000000000000000000b' }, { revision: 2 }])
    assert.ok(!isProofText(bytes, { ...piece, ...other }, sources), Object.keys(other).join());
  for (let end = 0; end < bytes.length; end += 7) assert.ok(!isProofText(bytes.subarray(0, end), piece, sources));
});

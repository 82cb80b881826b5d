import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { LogHeads } from '../support/log-heads.ts';
import { without } from '../support/log-peers.ts';
import { publish } from '../support/newsroom.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAGE = readFileSync(new URL('../../docs/verifying.md', import.meta.url), 'utf8');

/** The shell block of the page under a heading. */
function shellUnder(heading: string): string {
  const part = PAGE.slice(PAGE.indexOf(`## ${heading}`));
  return /```sh\n([\s\S]*?)```/.exec(part)?.[1] ?? '';
}

const program = promisify(execFile);

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test('the manual checks a receipt with openssl alone', {
  skip: !hasOpenssl && 'there is no openssl on this machine',
}, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  fileStory(deskOf(app), PAPER, filing('a-piece', { headline: 'Quotes " and \\ and 潮' }), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'a-piece', { by: 'cli' });
  await pressPapers(app, { cards: false });
  const proof = join(folder, 'proof.json');
  copyFileSync(join(folder, 'papers', PAPER, 'stories/a-piece/proof.json'), proof);

  const steps = shellUnder('A receipt, with openssl alone').replace(/^curl .*$/m, '');
  const run = (script: string) => spawnSync('sh', ['-e'], { cwd: folder, input: script, encoding: 'utf8' });
  const good = run(steps);
  assert.equal(good.status, 0, good.stderr);
  assert.match(good.stdout, /Signature Verified Successfully/);

  const last =
    steps
      .trim()
      .split('\n')
      .findLast((line) => line.startsWith('openssl pkeyutl')) ?? '';
  const altered = run(`sed -i.bak 's/revision 1/revision 2/' signed.txt\n${last}\n`);
  assert.notEqual(altered.status, 0);
});

test('the manual checks with openssl alone that a witness saw a receipt', {
  skip: ONLY_WIDE || (!hasOpenssl && 'there is no openssl on this machine'),
}, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  const heads = new LogHeads(app.store.database.log, 'desk');
  for (const slug of ['high-water', 'a-piece', 'low-water', 'neap-tide']) publish(app, slug);
  heads.cosign(heads.sign());
  await pressPapers(app, { cards: false });
  const proofOf = (slug: string) => readFileSync(join(folder, 'papers', PAPER, 'stories', slug, 'proof.json'), 'utf8');
  const steps = shellUnder('That witnesses saw it, with openssl alone').replaceAll(/^curl .*$/gm, '');
  const play = (proof: string, policy = heads.policyText) => {
    writeFileSync(join(folder, 'proof.json'), proof);
    writeFileSync(join(folder, 'policy'), policy);
    return spawnSync('sh', ['-e'], { cwd: folder, input: steps, encoding: 'utf8' });
  };

  for (const slug of ['high-water', 'a-piece', 'low-water', 'neap-tide']) {
    const { status, stdout, stderr } = play(proofOf(slug));
    assert.equal(status, 0, stderr);
    assert.match(stdout, /The leaf is under this head\n/);
    assert.equal(stdout.match(/Signature Verified Successfully/g)?.length, 2, stdout);
    assert.match(stdout, /witness\.example\/w1 saw it, 1780000000 seconds after 1970/);
  }

  // A program that nobody here wrote takes the same three files.
  if (without('tlog-verify') === false) {
    play(proofOf('a-piece'));
    const tlogVerify = (leaf: string) => program('tlog-verify', ['proof', 'policy', 'proof', leaf], { cwd: folder });
    await tlogVerify('leaf');
    await assert.rejects(tlogVerify('head'), { code: 1 });
  } else t.diagnostic('no tlog-verify on the PATH');

  // Nor does this one know Broadsheet: it was written from docs/protocol.md alone.
  if (spawnSync('python3', ['--version']).status === 0) {
    const verifier = fileURLToPath(new URL('../protocol/verifier', import.meta.url));
    const pressed = (path: string) => join(folder, 'papers', PAPER, path);
    const keys = pressed('.well-known/newsdesk-keys.json');
    const python = (proof: string) => program('python3', ['-B', verifier, 'file', proof, keys, join(folder, 'policy')]);
    await python(pressed('stories/a-piece/proof.json'));
    writeFileSync(join(folder, 'altered.json'), proofOf('a-piece').replaceAll(/seq \d+/g, 'seq 99'));
    await assert.rejects(python(join(folder, 'altered.json')), { code: 1 });
  } else t.diagnostic('no python3 on the PATH');

  const another = play(proofOf('a-piece').replace(/seq \d+/, 'seq 99'));
  assert.equal(another.status, 1);
  assert.match(another.stdout, /The leaf is not under this head/);
  const stranger = play(
    proofOf('a-piece'),
    heads.policyText.replace(heads.witness.vkey, ed25519Witness('witness.example/w1', 9).vkey),
  );
  assert.doesNotMatch(stranger.stdout, /saw it/);
});

test('the leaf of a receipt that is not public is the one that the manual makes', (t) => {
  const folder = tempFolder(t);
  const receipt = 'domain-observation/v1\nseq 1\n\n— a AAAA\n';
  writeFileSync(join(folder, 'receipt.txt'), receipt);
  const part = PAGE.slice(PAGE.indexOf('## That witnesses saw it'));
  const [, script = ''] = [...part.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block);
  const { status } = spawnSync('sh', ['-e'], { cwd: folder, input: script, encoding: 'utf8' });
  assert.equal(status, 0);
  assert.equal(readFileSync(join(folder, 'leaf'), 'utf8'), receiptHashLeaf(receipt));
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pressPapers } from '../../src/app/press-run.ts';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/filing.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';

const PAGE = readFileSync(new URL('../../docs/verifying.md', import.meta.url), 'utf8');

/** The shell block of the page under a heading. */
function shellUnder(heading: string): string {
  const part = PAGE.slice(PAGE.indexOf(`## ${heading}`));
  return /```sh\n([\s\S]*?)```/.exec(part)?.[1] ?? '';
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test('the manual checks a receipt with openssl alone', {
  skip: !hasOpenssl && 'there is no openssl on this machine',
}, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  fileStory(app.desk, PAPER, filing('a-piece', { headline: 'Quotes " and \\ and 潮' }), { by: 'cli' });
  airStory(app.desk, PAPER, 'a-piece', { by: 'cli' });
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

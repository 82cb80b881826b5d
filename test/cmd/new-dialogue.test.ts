import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

const commandLine = `'${process.execPath}' bin/broadsheet.mjs new the-quay`;
const envOf = (folder: string) => ({
  ...process.env,
  CONTENT_DIR: join(folder, 'content'),
  DATA_DIR: join(folder, 'var'),
});

/** Runs `new` on a terminal of its own, which is given these lines at once. */
function dialogue(folder: string, lines: string[]) {
  const input = lines.map((line) => `${line}\n`).join('');
  return spawnSync('script', ['-qec', commandLine, '/dev/null'], {
    env: envOf(folder),
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
}

test('new prompts on a terminal, repeats after an invalid answer, and accepts pasted lines', {
  skip: !hasScript,
}, (t) => {
  const folder = tempFolder(t);
  const { stdout, status } = dialogue(folder, ['The Quay', 'english_uk', 'fr', '', 'News, Tides', 'Vera Holm, Editor']);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /Language \[en\]: [\s\S]*must be a language tag[\s\S]*Language \[en\]: /);
  const paper = readFileSync(join(folder, 'content/the-quay/paper.yaml'), 'utf8');
  assert.match(paper, /^language: fr$/m);
  assert.match(paper, /^ {2}- "Tides"$/m);
  assert.deepEqual(readdirSync(join(folder, 'content/the-quay/masthead')), ['vera-holm.yaml']);
});

test('new makes nothing when the answers end', { skip: !hasScript, timeout: 120_000 }, async (t) => {
  const folder = tempFolder(t);
  const child = spawn('script', ['-qec', commandLine, '/dev/null'], {
    env: envOf(folder),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  // A terminal takes ^D for what it is only from the program that reads it: each answer waits for its question.
  const answers: [question: RegExp, answer: string][] = [
    [/Name \[[^\]]*\]: /, 'The Quay\n'],
    [/Language \[en\]: /, '\u0004'],
  ];
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const [question, answer] = answers[0] ?? [];
    if (question?.test(said)) {
      answers.shift();
      child.stdin.write(answer ?? '');
    }
  });
  await once(child, 'close');
  assert.match(said, /the-quay was not created/);
  assert.equal(existsSync(join(folder, 'content/the-quay')), false);
});

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { envIn, tempFolder } from '../support/app-context.ts';
import type { Outcome } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** What documents and messages tell people to type. */
const OURS = ['npm', 'run', '-s', 'broadsheet', '--'];

/** Runs a command as a person would, standing in a folder, and not as a part of the `npm test` around it. */
async function typed(t: TestContext, cwd: string, words: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const [command = '', ...args] = words;
  const outside = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name));
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(outside), ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  const [code, signal] = await once(child, 'close');
  return { code, signal, ...said };
}

/** A folder deep below the checkout, for this test alone. */
function folderBelow(t: TestContext): string {
  const above = join(PROJECT, 'node_modules/.cache');
  mkdirSync(above, { recursive: true });
  const folder = mkdtempSync(join(above, 'stood-in-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the documented command runs ours from any folder below the checkout, on the intended files', {
  skip: ONLY_WIDE,
}, async (t) => {
  const below = folderBelow(t);
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  const env = envIn(folder);
  const here = (...args: string[]) => typed(t, below, [...OURS, ...args], env);
  const sure = async (...args: string[]) => {
    const outcome = await here(...args);
    assert.equal(outcome.code, 0, `${args.join(' ')}: ${outcome.stderr}`);
    return outcome.stdout;
  };
  await sure('ledger', 'export', 'ledger.jsonl');
  assert.ok(readdirSync(below).includes('ledger.jsonl'), 'it lies where the user stands');
  const other = { ...env, DATA_DIR: join(folder, 'other') };
  const brought = await typed(t, below, [...OURS, 'ledger', 'import', './ledger.jsonl', '--no-press'], other);
  assert.equal(brought.code, 0, brought.stderr);

  cpSync(join(folder, 'content/tides'), join(below, 'rocks'), { recursive: true });
  assert.match(await sure('file', 'rocks', '--no-press'), /filed rocks\/paper\.yaml/);
  assert.match(await sure('file', './rocks/stories/high-water.md', '--no-press'), /0 filed, 1 unchanged/);
  assert.match((await here('import', 'not-there.jsonl', '--paper', 'rocks')).stderr, /not-there\.jsonl does not exist/);
  assert.match(await sure('press', '--paper', 'rocks', '--no-cards'), /rocks/);

  const pressed = join(folder, 'papers/rocks');
  cpSync(join(pressed, 'stories/high-water/proof.json'), join(below, 'proof.json'));
  cpSync(join(pressed, '.well-known/newsdesk-keys.json'), join(below, 'keys.json'));
  const proven = await sure('verify', 'proof.json', '--keys', './keys.json');
  assert.match(proven, /the hash, the receipts and the chain hold/);
  assert.equal((await here('verify', 'no-proof.json')).code, 2, 'npm passes the exit code on');
  const again = await typed(t, PROJECT, ['node', 'bin/broadsheet.mjs', 'verify', join(below, 'proof.json')], env);
  assert.equal(again.code, 0, again.stderr);
});

test('outside the checkout it runs nothing, and requests no package from a registry', async (t) => {
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404).end('{}');
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  t.after(() => void registry.close());
  const env = {
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_update_notifier: 'false',
  };
  const { code } = await typed(t, tempFolder(t), [...OURS, '--version'], env);
  assert.notEqual(code, 0);
  assert.deepEqual(asked, []);
});

/** What is about the package, in a folder that has it: there npx asks no registry. */
const OF_PACKAGE =
  /^(?:src\/shared\/command-line\.ts|tools\/pack\/README\.md|docs\/(?:package|tutorial|upgrading)\.md|docs\/decisions\/011|packages\/create-broadsheet\/|examples\/(?:lab-log|town-paper)\/|test\/package\/)/;
/** What readers of a paper are told works in a checkout, whatever the paper's operator has. */
const FOR_READERS = /^src\/(?:shared\/command-line|desk\/press\/standards-text)\.ts:/;

test('no document and no message names a command that the registry may answer', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: PROJECT, encoding: 'utf8' }).split('\0');
  const texts = files
    .filter((file) => /\.(?:md|ts|mjs|js|astro|ya?ml|txt|json|html)$/.test(file))
    .filter((file) => !/^(?:package-lock\.json|test\/fixtures\/|test\/cmd\/anywhere)/.test(file))
    // What changed may name what was before.
    .filter((file) => !/^CHANGELOG\.md$/.test(file));
  const lines = texts.flatMap((file) =>
    readFileSync(join(PROJECT, file), 'utf8')
      .split('\n')
      .map((line, at) => [`${file}:${at + 1}`, line] as const),
  );
  const named = lines.filter(([at, line]) => !OF_PACKAGE.test(at) && /\bnpx (?:-\S+ )*broadsheet\b/.test(line));
  // Messages name the command as the user calls it.
  const fixed = lines.filter(
    ([at, line]) => /^(?:src|api)\/.*\.ts:/.test(at) && !FOR_READERS.test(at) && /npm run -s broadsheet/.test(line),
  );
  // A comment may name a verb; what people read says what to type.
  const bare = lines.filter(
    ([at, line]) =>
      /^(?:src|api|docs|README)/.test(at) && !/^\s*(?:\/?\*|\/\/)/.test(line) && /`broadsheet [a-z]/.test(line),
  );
  assert.deepEqual([...named, ...fixed, ...bare], []);
});

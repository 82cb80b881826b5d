import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { loopback } from '../support/loopback.ts';
import { packageRegistry } from '../support/package-registry.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { outcome } from './packed.ts';

const PAPER = 'tide-table';
const BRANCH = 'broadsheet-state';

interface Action {
  inputs: Record<string, { required?: boolean; default?: string }>;
  runs: { using: string; steps: { name: string; shell: string; run: string; env?: Record<string, string> }[] };
}

const action = parse(readFileSync(join(PROJECT, 'action.yml'), 'utf8')) as Action;

/** The value of an expression in the action: an input, or whether it is true. */
function filled(text: string, inputs: Record<string, string>): string {
  return text.replace(/\$\{\{ inputs\.([\w-]+)( == 'true' && '1' \|\| '')? \}\}/g, (_, name: string, isTrue) => {
    const value = inputs[name] ?? action.inputs[name]?.default;
    assert.ok(value !== undefined, `the action needs the input ${name}`);
    return isTrue === undefined ? value : value === 'true' ? '1' : '';
  });
}

/** A repository with a paper, as its owner would push it, and the remote that a runner clones it from. */
async function repository(t: TestContext, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = tempFolder(t);
  const entered = join(folder, 'entered');
  await enterPapers(entered, [{ slug: PAPER }]);
  const work = join(folder, 'work');
  cpSync(join(entered, 'content'), join(work, 'content'), { recursive: true });
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, dependencies: { broadsheet: VERSION } }));
  writeFileSync(join(work, '.gitignore'), 'node_modules/\nvar/\ndist/\nsite/\n');
  const installed = await outcome(work, ['npm', 'install', '--no-audit', '--no-fund'], env);
  assert.equal(installed.code, 0, installed.stderr);
  const remote = join(folder, 'remote.git');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: work, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '--message', 'A paper');
  git('clone', '--quiet', '--bare', '.', remote);
  return remote;
}

test('the action files, presses, publishes and verifies, from an encrypted branch on', {
  skip: ONLY_WIDE || without('bash', 'curl', 'openssl', 'git'),
}, async (t) => {
  const cache = tempFolder(t);
  const env = { npm_config_registry: await packageRegistry(t), npm_config_cache: cache };
  const remote = await repository(t, env);
  let site = '';
  const server = createServer((request, response) => {
    const file = join(site, request.url ?? '');
    if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  const origin = await loopback(t, server);

  /** What a runner does: clones, and runs the steps one after the other until one fails. */
  const runOf = async (more: Record<string, string>) => {
    const machine = join(tempFolder(t), 'machine');
    execFileSync('git', ['clone', '--quiet', remote, machine]);
    const inputs = {
      origin,
      'publish-url': `file://${machine}/site?paper=${PAPER}`,
      state: `git:${BRANCH}`,
      'state-passphrase': 'a long random text',
      ...more,
    };
    for (const { name, shell, run, env: own = {} } of action.runs.steps) {
      assert.equal(shell, 'bash', name);
      const set = Object.entries(own).map(([variable, value]) => [variable, filled(value, inputs)]);
      const said = await outcome(machine, ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
        ...env,
        ...Object.fromEntries(set),
        GITHUB_ACTION_PATH: PROJECT,
      });
      if (said.code !== 0) return { failed: name, said: said.stderr + said.stdout, machine };
    }
    return { failed: null, said: '', machine };
  };

  const early = await runOf({});
  assert.equal(early.failed, 'File, press and publish');
  assert.match(early.said, /the repository has no branch broadsheet-state.*BEGIN=1/);

  const first = await runOf({ begin: 'true' });
  assert.equal(first.failed, null, first.said);
  assert.deepEqual(
    treeOf(join(first.machine, 'site')).get('index.html'),
    treeOf(join(first.machine, 'dist/papers', PAPER)).get('index.html'),
  );
  const keys = (machine: string) => readFileSync(join(machine, 'site/.well-known/newsdesk-keys.json'), 'utf8');
  const tip = () => execFileSync('git', ['ls-tree', '-r', BRANCH], { cwd: remote, encoding: 'utf8' }).trim();
  assert.match(tip(), /^100644 blob \w+\tstate\.tar\.zst\.enc$/);
  const state = execFileSync('git', ['cat-file', 'blob', `${BRANCH}:state.tar.zst.enc`], {
    cwd: remote,
    maxBuffer: 2 ** 28,
  });
  assert.equal(state.subarray(0, 8).toString(), 'Salted__');

  // A piece that was altered after it was pressed does not pass.
  const proof = join(first.machine, 'dist/papers', PAPER, 'stories/high-water/proof.json');
  writeFileSync(proof, readFileSync(proof, 'utf8').replace('"prose": "', '"prose": "Not '));
  const verify = action.runs.steps.at(-1)?.run ?? '';
  const altered = await outcome(first.machine, ['bash', '-eo', 'pipefail', '-c', verify], env);
  assert.equal(altered.code, 1);

  if (ONLY_WIDE) return;
  site = join(first.machine, 'site');
  const wrong = await runOf({ 'state-passphrase': 'another text' });
  assert.match(wrong.said, /STATE_PASSPHRASE does not open the state/);
  const second = await runOf({});
  assert.equal(second.failed, null, second.said);
  assert.equal(keys(second.machine), keys(first.machine), 'the same desk goes on');
  assert.deepEqual([...treeOf(join(second.machine, 'site')).keys()], [...treeOf(site).keys()]);
  const commits = execFileSync('git', ['rev-list', '--count', BRANCH], { cwd: remote, encoding: 'utf8' });
  assert.equal(commits.trim(), '1', 'old states are not kept');
});

test('the action gives the script what it asks for, and needs only inputs that it says', () => {
  const script = readFileSync(join(PROJECT, 'deploy/ci/build.sh'), 'utf8');
  const asked = [...script.matchAll(/\$\{([A-Z_]+):[?]/g)].map(([, name = '']) => name);
  const given = action.runs.steps.flatMap(({ env = {} }) => Object.keys(env));
  for (const name of asked) assert.ok(given.includes(name), name);
  const used = JSON.stringify(action.runs).matchAll(/inputs\.([\w-]+)/g);
  assert.deepEqual(new Set([...used].map(([, name]) => name)), new Set(Object.keys(action.inputs)));
});

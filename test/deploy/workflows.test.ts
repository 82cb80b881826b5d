import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { PROJECT } from '../../src/shared/project.ts';

interface Step {
  uses?: string;
  run?: string;
}
interface Job extends Step {
  'timeout-minutes'?: number;
  permissions?: Record<string, string>;
  steps?: Step[];
}
interface Workflow {
  permissions: Record<string, string>;
  concurrency?: unknown;
  jobs: Record<string, Job>;
}

const FOLDER = '.github/workflows';
const OWN = readdirSync(join(PROJECT, FOLDER)).map((file) => join(FOLDER, file));
/** The last is one that operators copy. */
const WORKFLOWS = [...OWN, 'deploy/ci/github.yml'];
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** A program or file of the project that a command line names. */
const OF_PROJECT = /(?<![\w$/{.-])(?:\.ci|bin|deploy|src|test|tools)\/[\w./-]+/g;
/** The jobs that may write: the release, and the website of the manual. */
const PUBLISHES = new Set([`${FOLDER}/release.yml release`, `${FOLDER}/website.yml deploy`]);
const NPM_OWN = new Set(['audit', 'ci', 'test']);

for (const path of WORKFLOWS) {
  const text = read(path);
  const workflow = parse(text) as Workflow;
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, job]) => [job, ...(job.steps ?? [])]);

  test(`${path} pins each action to a commit, with its version`, () => {
    const named = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, use = '']) => use);
    assert.equal(named.length, steps.filter(({ uses }) => uses !== undefined).length);
    for (const use of named) {
      if (use.startsWith('./')) assert.ok(existsSync(join(PROJECT, use)), use);
      else assert.match(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  test(`${path} runs scripts that exist`, () => {
    for (const { run = '' } of steps) {
      for (const [file] of run.matchAll(OF_PROJECT)) {
        assert.ok(existsSync(join(PROJECT, file)), `${file} in: ${run}`);
        if (!/\.m?[jt]s$/.test(file)) accessSync(join(PROJECT, file), constants.X_OK);
      }
      for (const [, command = '', script = ''] of run.matchAll(/\bnpm (\w+)(?: ([\w:-]+))?/g)) {
        if (command === 'run') assert.ok(script in scripts, run);
        else assert.ok(NPM_OWN.has(command), run);
      }
    }
  });

  test(`${path} may only read, is limited in time and never runs twice on the same`, () => {
    assert.deepEqual(workflow.permissions, { contents: 'read' });
    assert.notEqual(workflow.concurrency, undefined);
    for (const [name, job] of jobs) {
      if (job.uses === undefined) assert.ok((job['timeout-minutes'] ?? 361) <= 360, name);
      if (job.permissions !== undefined) assert.ok(PUBLISHES.has(`${path} ${name}`), name);
    }
  });
}

test('the shards of the tests are all of them', () => {
  const { jobs } = parse(read(join(FOLDER, 'check.yml'))) as {
    jobs: { test: { strategy: { matrix: { shard: string[] } } } };
  };
  const { shard } = jobs.test.strategy.matrix;
  assert.deepEqual(
    shard,
    shard.map((_, index) => `${index + 1}/${shard.length}`),
  );
});

test('.ci/wide lists its cases, and has each', () => {
  const names = execFileSync(join(PROJECT, '.ci/wide'), ['--list'], { encoding: 'utf8' }).trim().split('\n');
  assert.ok(names.includes('properties'));
  for (const name of names) assert.ok(read('.ci/wide').includes(`\n${name}() (\n`), name);
});

test('.ci/wide lists the files whose tests a push leaves out', () => {
  const leftOut = globSync('test/**/*.test.ts', { cwd: PROJECT }).filter((path) =>
    /\/support\/wide\.ts'/.test(read(path)),
  );
  const listed = [...read('.ci/wide').matchAll(/^# {3}(test\/\S+\.test\.ts)$/gm)].map(([, path]) => path);
  assert.deepEqual(listed, leftOut.sort());
});

test('issue forms have fields with ids of their own, and the one for defects asks for the version', () => {
  const forms = join('.github', 'ISSUE_TEMPLATE');
  for (const file of readdirSync(join(PROJECT, forms)).filter((name) => name !== 'config.yml')) {
    const { name, description, body } = parse(read(join(forms, file)));
    for (const text of [name, description]) assert.ok(text.length > 0, file);
    const fields = body.filter(({ type }: { type: string }) => type !== 'markdown');
    assert.equal(new Set(fields.map(({ id }: { id: string }) => id)).size, fields.length, file);
    for (const { attributes } of fields) assert.ok(attributes.label.length > 0, file);
  }
  assert.match(read(join(forms, 'bug.yml')), /label: What `npm run -s broadsheet -- --version` prints/);
});

test('dependabot updates every lock file', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as { updates: { directories?: string[] }[] };
  const watched = updates.flatMap(({ directories = [] }) => directories);
  const locks = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: PROJECT, encoding: 'utf8' });
  for (const lock of locks
    .trim()
    .split('\n')
    .filter((path) => !path.startsWith('test/')))
    assert.ok(watched.includes(`/${lock}`.replace(/\/package-lock\.json$/, '') || '/'), lock);
});

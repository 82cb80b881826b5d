import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { parse } from 'yaml';
import type { projectFiles as projectFilesType } from '../../packages/create-broadsheet/src/project-files.ts';
import { TARGETS, type Target } from '../../packages/create-broadsheet/src/targets.ts';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { loopback } from '../support/loopback.ts';
import { linkedTarball, packageRegistry } from '../support/package-registry.ts';
import { run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { installTarball, outcome, packPackage } from './packed.ts';

const WHO = 'Ada <ada@example.org>';
const GIT = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};
const QUAY = ['--name', 'The Quay', '--section', 'Tides', '--section', 'Boats', '--persona', 'Vera Holm, Editor'];

const here = { after };
const shared = tempFolder(here);
/** Where the starter is installed, as npm installs it for `npm create`. */
const installed = join(shared, 'installed');
installTarball(installed, packPackage(shared, 'packages/create-broadsheet', ['deploy/ci']));
// A cache of its own: the registry's version of Broadsheet is not the one that users get.
const env = { ...GIT, npm_config_registry: await packageRegistry(here), npm_config_cache: join(shared, 'cache') };

const program = () => join(installed, 'node_modules/create-broadsheet/bin.mjs');
const create = (cwd: string, args: string[], more: NodeJS.ProcessEnv = {}) =>
  outcome(cwd, [process.execPath, program(), ...args], { ...env, ...more });
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, encoding: 'utf8', env: { ...process.env, ...GIT } });
const text = (...path: string[]) => readFileSync(join(...path), 'utf8');

test('create makes a paper that files, in a folder with a pinned version and a history of its own', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const made = await create(folder, ['the-quay', ...QUAY, '--language', 'de', '--publish', 'netlify']);
  assert.equal(made.code, 0, made.stderr);
  assert.doesNotMatch(made.stdout, /used the defaults/);
  assert.match(made.stdout, /the-quay is ready/);
  assert.deepEqual(readdirSync(folder), ['the-quay'], 'nothing stays beside it');

  const project = join(folder, 'the-quay');
  const own = JSON.parse(text(project, 'package.json'));
  assert.deepEqual(own.dependencies, { broadsheet: VERSION });
  assert.equal(JSON.parse(text(project, 'package-lock.json')).packages['node_modules/broadsheet'].version, VERSION);
  const record = parse(text(project, 'content/the-quay/paper.yaml'));
  assert.deepEqual([record.nameplate, record.language, record.sections], ['The Quay', 'de', ['Tides', 'Boats']]);
  assert.equal(parse(text(project, 'content/the-quay/masthead/vera-holm.yaml')).title, 'Editor');

  assert.equal(git(project, 'log', '--format=%an <%ae> %s').trim(), `${WHO} Start the paper`);
  const committed = git(project, 'ls-files').trim().split('\n');
  for (const path of ['.env.example', '.github/workflows/publish.yml', 'AGENTS.md', 'README.md', 'publish.sh'])
    assert.ok(committed.includes(path), path);
  assert.ok(!committed.some((path) => path.startsWith('node_modules/')));
  for (const path of committed.filter((name) => !name.startsWith('content/')))
    assert.doesNotMatch(text(project, path), /\{\{\w/, path);

  const settings = { ...envIn(project), CONTENT_DIR: join(project, 'content') };
  const filed = await run(t, project, ['file', '--no-press', '--json'], settings);
  const { problems } = JSON.parse(filed.stdout);
  assert.deepEqual(
    problems.map((problem: { file: string }) => problem.file),
    ['the-quay/pages/imprint.md'],
    'all but the imprint, which is to be filled in',
  );
});

test('create installs a tarball that it is given, asks no registry, and keeps it in the project', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const tarball = linkedTarball(tempFolder(t));
  const offline = { npm_config_registry: 'http://127.0.0.1:9' };
  const made = await create(folder, ['the-quay', '--yes', '--package', tarball], offline);
  assert.equal(made.code, 0, made.stderr);
  const project = join(folder, 'the-quay');
  assert.deepEqual(JSON.parse(text(project, 'package.json')).dependencies, { broadsheet: 'file:broadsheet.tgz' });
  assert.ok(git(project, 'ls-files').split('\n').includes('broadsheet.tgz'));

  const other = linkedTarball(tempFolder(t), '9.9.9');
  const refused = await create(folder, ['other', '--yes', '--package', other], offline);
  assert.match(refused.stderr, /the package has version 9\.9\.9 of broadsheet, and this starter is for .*; take those/);
  assert.deepEqual(readdirSync(folder), ['the-quay']);
});

test('without a terminal create takes defaults, and says for what', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'my-paper'));
  const made = await create(folder, ['my-paper', '--name', 'My Paper']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^no terminal: used the defaults for --language, --section, --persona, --publish$/m);
  assert.match(text(folder, 'my-paper/.github/workflows/publish.yml'), /deploy-pages@/);
});

test('on a terminal create asks for the folder, the place to publish, and all about the paper', {
  skip: ONLY_WIDE || without('script'),
}, async (t) => {
  const folder = tempFolder(t);
  const answers = ['the-quay', 'gopher', 's3', 'The Quay', '', 'https://quay.example', 'Tides, Boats', ''];
  const { stdout, status } = await typed(folder, answers);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /"gopher" is unknown/);
  const record = parse(text(folder, 'the-quay/content/the-quay/paper.yaml'));
  assert.deepEqual(
    [record.nameplate, record.url, record.sections],
    ['The Quay', 'https://quay.example', ['Tides', 'Boats']],
  );
  const { ORIGIN, PUBLISH_URL } = stepOf(text(folder, 'the-quay/.github/workflows/publish.yml')).env;
  assert.equal(ORIGIN, 'https://quay.example');
  assert.equal(PUBLISH_URL, 's3://the-quay?paper=the-quay');

  const ended = await typed(folder, ['another']);
  assert.equal(ended.status, 1);
  assert.match(ended.stdout, /the answers ended; nothing was created/);
  assert.deepEqual(readdirSync(folder), ['the-quay']);
});

/** Runs the starter on a terminal of its own, on which these lines are typed, each after a prompt. */
async function typed(folder: string, lines: string[]) {
  const child = spawn('script', ['-qec', `'${process.execPath}' '${program()}'`, '/dev/null'], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  const left = [...lines];
  let stdout = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    stdout += more;
    // Every question ends with a colon and a space.
    if (!stripVTControlCharacters(stdout.slice(from)).endsWith(': ')) return;
    from = stdout.length;
    const line = left.shift();
    child.stdin.write(line === undefined ? '\u0004' : `${line}\n`);
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  return { status: await promise, stdout };
}

test('create refuses with one line, and leaves nothing', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'full'));
  writeFileSync(join(folder, 'full/notes.txt'), 'mine');
  writeFileSync(join(folder, 'a-file'), '');
  const offline = { npm_config_registry: 'http://127.0.0.1:9' };
  const elsewhere = {
    npm_config_registry: await loopback(
      t,
      createServer((_, response) => response.writeHead(404).end('{}')),
    ),
  };
  const cases: [args: string[], said: RegExp, more?: NodeJS.ProcessEnv][] = [
    [[], /name the folder to make, as in npm create broadsheet my-paper$/],
    [['full'], /full is not empty \(it has notes\.txt\), and nothing in it was changed; choose another name$/],
    [['a-file'], /a-file is a file, not a folder; choose another name$/],
    [['My Paper'], /"My Paper" cannot be the address of a paper; use 1 to 60 of a–z/],
    [['docs'], /"docs" cannot be a paper's address/],
    [['x', '--language', 'english_uk'], /nothing was created: .*--language: .*language tag/],
    [['x', '--publish', 'gopher'], /--publish "gopher" is unknown; use one of pages, netlify, cloudflare, s3$/],
    [['x', '--colour', 'red'], /Unknown option '--colour'.*; --help lists the options$/],
    [['x', '--package', 'a-file'], /--package a-file is not a tarball; name the broadsheet-….tgz of a release/],
    [['x', 'y'], /there is one folder to make, not 2: x y$/],
    [['nowhere/x'], /cannot write to .*nowhere .*; create the folder, or change its permissions$/],
    [['x'], /http:\/\/127\.0\.0\.1:9\/? cannot be reached; nothing was created: connect to the network/, offline],
    [['x'], new RegExp(`has no broadsheet@${VERSION}; check npm's setting registry`), elsewhere],
  ];
  const before = readdirSync(folder).sort();
  await Promise.all(
    // Each is a process of npm: on a push every third.
    cases
      .filter((_, n) => ONLY_WIDE === false || n % 3 === 0)
      .map(async ([args, said, more]) => {
        const { code, stderr, stdout } = await create(folder, args, more);
        assert.equal(code, 1, `${args}: ${stdout}`);
        assert.match(stderr.trimEnd(), said);
        assert.match(stderr, /^create-broadsheet: [^\n]+\n$/, 'one line');
      }),
  );
  assert.deepEqual(readdirSync(folder).sort(), before);
  assert.equal(text(folder, 'full/notes.txt'), 'mine');
});

test('an old Node gets one line', async (t) => {
  const copy = join(tempFolder(t), 'create-broadsheet');
  cpSync(join(installed, 'node_modules/create-broadsheet'), copy, { recursive: true });
  const manifest = JSON.parse(text(copy, 'package.json'));
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, engines: { node: '>=99.1' } }));
  const { code, stderr } = await outcome(copy, [process.execPath, 'bin.mjs', 'x']);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `create-broadsheet: Node ${process.versions.node} is too old; install Node 99.1 or newer from https://nodejs.org\n`,
  );
});

for (const target of Object.keys(TARGETS) as Target[]) {
  test(`the workflow for ${target} pins its actions, and has all that its script and its place ask for`, async () => {
    const packed = pathToFileURL(join(installed, 'node_modules/create-broadsheet/dist/project-files.js'));
    const { projectFiles }: { projectFiles: typeof projectFilesType } = await import(packed.href);
    const address = 'https://quay.example/papers';
    const files = projectFiles({ slug: 'the-quay', version: VERSION, target, address });
    const workflow = files.get('.github/workflows/publish.yml') ?? '';
    const uses = [...workflow.matchAll(/^\s*- uses: (.*)$/gm)].map(([, use = '']) => use);
    assert.ok(uses.length >= 2);
    for (const use of uses) assert.match(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);

    const { on, jobs } = parse(workflow) as Workflow;
    assert.deepEqual(Object.keys(on), ['push', 'schedule', 'workflow_dispatch']);
    const { env: given } = stepOf(workflow);
    const script = files.get('publish.sh') ?? '';
    assert.equal(script, text(PROJECT, 'deploy/ci/build.sh'));
    const asked = [...script.matchAll(/\$\{([A-Z_]+):[?]/g)].map(([, name = '']) => name);
    for (const name of asked) assert.ok(name in given || (name === 'STATE_PASSPHRASE' && target === 's3'), name);
    assert.equal(given.ORIGIN, 'https://quay.example');
    assert.equal(given.LOG_URL, 'https://quay.example/papers/log');
    assert.match(given.PUBLISH_URL ?? '', /[?]paper=the-quay$/);

    const secrets = [...workflow.matchAll(/\{\{ secrets\.(\w+) \}\}/g)].map(([, name = '']) => name);
    const documented = [...(files.get('README.md') ?? '').matchAll(/^- `([A-Z_]+)`: /gm)].map(([, name = '']) => name);
    assert.deepEqual(secrets.sort(), documented.sort());
    const permissions = TARGETS[target].permissions.map((one) => one.split(': ')[0]);
    assert.deepEqual(Object.keys(jobs.publish.permissions), ['contents', ...permissions]);
  });
}

interface Step {
  run?: string;
  env: Record<string, string>;
}

interface Workflow {
  on: object;
  jobs: { publish: { permissions: object; steps: Step[] } };
}

/** The step of a workflow that files, presses and publishes. */
function stepOf(workflow: string): Step {
  const { steps } = (parse(workflow) as Workflow).jobs.publish;
  const step = steps.find(({ run }) => run === 'bash publish.sh');
  assert.ok(step);
  return step;
}

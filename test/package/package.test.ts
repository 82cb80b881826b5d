import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commitOf } from '../../bin/commit.mjs';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { installLinked, pack, startInstalled } from '../support/package.ts';
import { until, withAddresses } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

/** Packages that only `packages/import` uses: they are in its bundle. */
const IMPORTERS = ['@streamparser/json', 'htmlparser2', 'smol-toml', 'yauzl'];
/** Packages that are one file each. */
const INSIDE = ['compression', 'feed', 'prom-client', 'turndown'];

/** An empty folder of a user, in whose node_modules the package is; its path has a blank. */
let folder = '';
let tarball = '';

const ends: (() => void)[] = [];
before(() => {
  const outer = tempFolder({ after: (end) => void ends.push(end) });
  tarball = pack(outer);
  folder = join(outer, 'my papers');
  mkdirSync(folder);
  installLinked(folder, tarball);
});
after(() => {
  for (const end of ends) end();
});

const packed = (...path: string[]) => join(folder, 'node_modules/broadsheet', ...path);

test('the tarball is small, and has no tests and no TypeScript', () => {
  assert.ok(statSync(tarball).size < 3_450_000, `${statSync(tarball).size} bytes`);
  const files = readdirSync(packed(), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    files.filter((file) => /\.(?:ts|astro|tsx)$|(?:^|\/)test(?:\/|$)/.test(file)),
    [],
  );
});

test('it has what is read at run time, and what goes with a copy of it', () => {
  const { length } = readdirSync(packed('src/store/migrations'));
  assert.equal(length, readdirSync(join(PROJECT, 'src/store/migrations')).length);
  for (const file of ['content/agreement.md', 'LICENSE', 'THIRD-PARTY.txt', 'README.md', 'docs/settings.md'])
    assert.ok(existsSync(packed(file)), file);
});

test('every import between its files leads to one', () => {
  const files = globSync('**/*.{js,mjs}', { cwd: packed(), exclude: ['dist/client/**', 'node_modules/**'] });
  assert.ok(files.length > 500);
  const broken = files.flatMap((file) =>
    [
      ...readFileSync(packed(file), 'utf8').matchAll(
        /(?:\bfrom|\bimport|import\(|URL\()\s*['"](\.[^'"\n]+\.(?:m?[jt]s|json(?=['"] with)))['"]/g,
      ),
    ]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => !existsSync(packed(path)))
      .map((path) => `${file} needs ${path}`),
  );
  assert.deepEqual(broken, []);
});

test('it depends on what the code imports alone, with the versions of the lock file', () => {
  const root = json(PROJECT, 'package.json');
  const { dependencies, engines, version } = json(packed('package.json'));
  assert.deepEqual([engines, version], [root.engines, root.version]);
  // What only a build of the pages needs.
  const editor = ['@codemirror/commands', '@codemirror/state', '@codemirror/view'];
  const buildTime = ['@astrojs/node', ...editor, 'astro', 'd3-scale', 'd3-shape', 'fzstd'];
  assert.deepEqual(
    Object.keys(dependencies),
    Object.keys(root.dependencies).filter(
      (name) => !buildTime.includes(name) && !IMPORTERS.includes(name) && !INSIDE.includes(name),
    ),
  );
  const { packages } = json(PROJECT, 'package-lock.json');
  for (const [name, exact] of Object.entries(dependencies))
    assert.equal(exact, packages[`node_modules/${name}`].version);
});

test('what reads the exports of other systems is one file, with the licences of what is in it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const own = json(PROJECT, 'packages/import/package.json').dependencies as Record<string, string>;
  const root = json(PROJECT, 'package.json').dependencies as Record<string, string>;
  for (const [name, range] of Object.entries(own)) assert.equal(range, root[name], name);
  const { dependencies } = json(packed('package.json'));
  assert.deepEqual(
    Object.keys(own).filter((name) => dependencies[name] === undefined && !INSIDE.includes(name)),
    IMPORTERS,
  );
  assert.deepEqual(readdirSync(packed('packages/import'), { recursive: true }), ['src', 'src/index.js']);
  const notice = readFileSync(packed('THIRD-PARTY.txt'), 'utf8');
  for (const name of [
    ...IMPORTERS,
    ...INSIDE,
    'd3-scale',
    'internmap',
    'sax',
    'vary',
    'domhandler',
    'entities',
    'pend',
  ])
    assert.match(notice, new RegExp(`^${name} [\\d.]+: `, 'm'), name);

  const data = tempFolder(t);
  assert.deepEqual(
    readdirSync(packed('inside')),
    INSIDE.map((name) => `${name}.js`),
  );

  const archive = join(data, 'old.xml');
  writeFileSync(
    archive,
    '<rss version="2.0"><channel><title>Old</title><link>https://old.example/</link><item><title>A</title><link>https://old.example/a</link><pubDate>Mon, 20 May 2019 10:00:00 GMT</pubDate><category>News</category><description>&lt;p&gt;An &lt;b&gt;old&lt;/b&gt; text&lt;/p&gt;</description></item></channel></rss>',
  );
  const args = ['import', archive, '--paper', 'old', '--create', '--air', '--no-press'];
  const { code, stdout, stderr } = await startInstalled(t, folder, args, { DATA_DIR: data }).ended;
  assert.deepEqual([code, stdout, stderr], [0, '1 filed, 0 unchanged, 0 refused\n', '']);
});

// On a push the tutorial plays most of it.
test('in an empty folder it makes a paper, files, serves, verifies and publishes it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const run = (...args: string[]) => startInstalled(t, folder, args).ended;
  const { PORT = '', RECORDS_PORT = '', ORIGIN = '' } = await withAddresses({});
  writeFileSync(
    join(folder, '.env'),
    `PORT=${PORT}\nRECORDS_PORT=${RECORDS_PORT}\nORIGIN=${ORIGIN}\nSCANNER=off\nLOG_LEVEL=error\n`,
  );

  const version = await run('--version');
  assert.equal(version.stdout, `${json(PROJECT, 'package.json').version} (${commitOf(PROJECT)})\n`);
  const help = await run('--help');
  assert.deepEqual([help.code, help.stderr], [0, ''], 'every command can be loaded');

  const made = await run('new', 'the-quay', '--yes');
  assert.deepEqual([made.code, made.stderr], [0, '']);
  assert.match(made.stdout, /^wrote content\/the-quay\/paper\.yaml\n/);
  assert.match(made.stdout, /npx broadsheet file files it/, 'messages name the command as it is called');
  const sample = join(folder, 'content/the-quay/stories/how-to-write-a-day.md');
  writeFileSync(sample, readFileSync(sample, 'utf8').replace(/^air: false\n/m, ''));
  rmSync(join(folder, 'content/the-quay/pages/imprint.md'));

  const desk = startInstalled(t, folder, ['dev'], { PORT: '0' });
  const [, shown = ''] = await until(() => {
    assert.equal(desk.child.exitCode ?? desk.child.signalCode, null, desk.said.stderr);
    return /^(http:\S+)\/ shows .+ as it is on disk; nothing is filed\n$/.exec(desk.said.stdout);
  });
  const page = await ask(shown, '/the-quay/stories/how-to-write-a-day/');
  assert.deepEqual([page.status, page.text.includes('<broadsheet-desk')], [200, true]);
  desk.child.kill('SIGTERM');
  await desk.ended;

  const filed = await run('file');
  assert.deepEqual([filed.code, filed.stderr], [0, ''], filed.stderr);
  assert.match(filed.stdout, /10 filed, 0 unchanged, 0 refused\n/);
  assert.ok(existsSync(join(folder, 'dist/papers/the-quay/stories/how-to-write-a-day/index.html')));
  assert.ok(existsSync(join(folder, 'var/broadsheet.db')));

  const server = startInstalled(t, folder, ['serve']);
  const [, records = ''] = await until(() => {
    assert.equal(server.child.exitCode ?? server.child.signalCode, null, server.said.stderr);
    return /^ready desk=\S+ records=(\S+)\n/m.exec(server.said.stdout);
  });
  const story = '/the-quay/stories/how-to-write-a-day/';
  for (const [at, path, text] of [
    [ORIGIN, '/the-quay/', 'how-to-write-a-day'],
    [ORIGIN, '/the-quay/rss.xml', '<generator>Broadsheet</generator>'],
    [ORIGIN, story, '<html'],
    [ORIGIN, '/the-quay/api/v1/playground', 'playground/swagger-ui'],
    [records, '/', '<html'],
  ] as const) {
    const answer = await ask(at, path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`);
    assert.ok(answer.text.includes(text), path);
  }
  const [, viewer = ''] =
    /src="(playground\/[^"]*bundle[^"]*)"/.exec((await ask(ORIGIN, '/the-quay/api/v1/playground')).text) ?? [];
  assert.equal((await ask(ORIGIN, `/the-quay/api/v1/${viewer}`)).status, 200);

  const verified = await run('verify', `${ORIGIN}${story}`);
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /the hash, the receipts and the chain hold/);
  server.child.kill('SIGTERM');
  assert.deepEqual(await server.ended.then(({ code, stderr }) => [code, stderr]), [0, '']);

  const published = await run('publish', '--to', 'public copy', '--paper', 'the-quay');
  assert.equal(published.code, 0, published.stderr);
  const [sent, pressed] = ['public copy', 'dist/papers/the-quay'].map((path) => treeOf(join(folder, path)));
  const missing = [...(pressed ?? [])].filter(([path]) => !sent?.has(path) && !sent?.has(`the-quay/${path}`));
  assert.deepEqual(
    missing.map(([path]) => path),
    [],
  );

  const examined = await run('doctor', '--upgrade');
  assert.match(examined.stdout, /While it serves: nothing\n/, examined.stdout);
  assert.deepEqual(readdirSync(folder).sort(), ['.env', 'content', 'dist', 'node_modules', 'public copy', 'var']);
  assert.deepEqual(readdirSync(packed()).includes('var'), false);
});

test('an older Node gets one line', async (t) => {
  const file = packed('package.json');
  const manifest = json(file);
  writeFileSync(file, JSON.stringify({ ...manifest, engines: { node: '>=999.1' } }));
  t.after(() => writeFileSync(file, JSON.stringify(manifest)));
  const { code, stderr } = await startInstalled(t, folder, ['serve']).ended;
  assert.equal(code, 1);
  assert.match(stderr, /^broadsheet: Node \S+ is too old; install Node 999\.1 or newer from https:\/\/nodejs\.org\n$/);
});

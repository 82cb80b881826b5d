import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cmd/commands.ts';
import { Fault } from '../../src/shared/fault.ts';
import { projectAround } from '../../src/shared/terminal/project-folder.ts';
import { tempFolder } from '../support/app-context.ts';
import { PROGRAM } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** Runs a command in a folder, without the variables of the `npm test` around it but the cache of compiled code. */
function run(cwd: string, args: string[]) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const options = { cwd, encoding: 'utf8', env: { PATH, HOME, NODE_COMPILE_CACHE, LOG_LEVEL: 'silent' } } as const;
  return spawnSync(process.execPath, [PROGRAM, ...args], options);
}

const READING = [
  'audit',
  'publish --to there',
  'press',
  'backup there.tar.zst',
  'ledger export there.jsonl',
  'log status',
  'paper list',
  'paper host',
  'key list --service records',
  'key list --paper tides',
  'seat list --paper tides',
  'webhook list --paper tides',
  'reader export ana@example.org --paper tides',
  'account show ana@example.org',
  'credits show ana@example.org',
  'withdraw high-water --paper tides --reason error',
  'air high-water --paper tides',
  'scan',
  'file',
  'import there.jsonl --paper tides',
  'key create --paper tides --level read --name Reader',
];

test('commands that need data never create a database', async (t) => {
  const folder = tempFolder(t);
  const here = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(here));
  for (const line of READING) {
    const [name = '', ...args] = line.split(' ');
    const command = await COMMANDS[name]?.();
    assert.ok(command, name);
    const outcome = await command.parseAsync(args, { from: 'user' }).then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(outcome instanceof Fault, `${line} says why it does nothing: ${outcome}`);
    assert.match(outcome.message, /there is no database |does not exist/);
    assert.deepEqual(readdirSync(folder), [], `${line} leaves something`);
  }
  const { stderr, status } = run(folder, ['paper', 'list']);
  assert.match(stderr, /^broadsheet: there is no database at .*\n$/);
  assert.equal(status, 1);
  assert.equal(run(folder, ['doctor']).stderr, '');
  assert.deepEqual(readdirSync(folder), [], 'doctor leaves something');
});

test('a command finds its project from any folder below, and the user’s paths from where the user is', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  writeFileSync(join(folder, '.env'), 'DIST_DIR=papers\n');
  const below = join(folder, 'content/tides/stories');
  const listed = run(below, ['paper', 'list']);
  assert.match(listed.stdout, /^tides {2}/, listed.stderr);
  const filed = run(below, ['file', 'high-water.md', '--no-press']);
  assert.match(filed.stdout, /0 filed, 1 unchanged/, filed.stderr);
  mkdirSync(join(folder, 'kept'));
  const exported = run(below, ['backup', '../../../kept/']);
  assert.equal(exported.status, 0, exported.stderr);
  const backups = readdirSync(join(folder, 'kept')).filter((name) => /^broadsheet-.*\.tar\.zst$/.test(name));
  assert.equal(backups.length, 1, 'the backup lies where the user said');
  assert.equal(run(below, ['press', '--no-cards']).status, 0);
  assert.ok(existsSync(join(folder, 'papers/tides/index.html')), 'the project’s own .env is read');
  assert.ok(!existsSync(join(below, 'var')) && !existsSync(join(below, 'papers')));
  const made = run(below, ['new', 'rocks', '--yes']);
  assert.match(made.stdout, /^wrote \.\.\/\.\.\/rocks\/paper\.yaml/, made.stderr);
});

test('a project is recognized by a paper, a database or a package.json that installs Broadsheet', (t) => {
  const marks: Record<string, string> = {
    'content/tides/paper.yaml': '',
    'var/broadsheet.db': '',
    'package.json': '{"dependencies":{"broadsheet":"0.1.0"}}',
  };
  for (const [file, text] of Object.entries(marks)) {
    const folder = tempFolder(t);
    const below = join(folder, 'a/b');
    mkdirSync(below, { recursive: true });
    assert.equal(projectAround(below), below, 'without a project, the folder itself');
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
    assert.equal(projectAround(below), folder, file);
  }
});

test('a project of another user above the current folder is skipped', {
  skip: ONLY_WIDE || process.getuid?.() !== 0,
}, (t) => {
  const folder = tempFolder(t);
  const below = join(folder, 'below');
  mkdirSync(join(folder, 'var'), { recursive: true });
  mkdirSync(below);
  writeFileSync(join(folder, 'var/broadsheet.db'), '');
  chownSync(folder, 65_534, 65_534);
  assert.equal(projectAround(below), below);
  assert.equal(projectAround(folder), folder, 'the current folder is the user’s own choice');
  const { stderr } = run(below, ['paper', 'list']);
  assert.ok(
    stderr.startsWith(`the project in ${folder} belongs to another user and is passed over; run this command in that`),
    stderr,
  );
  assert.equal(run(folder, ['new', '--help']).stderr, '', 'in its own folder nothing is said');
});

// Makes a release of the changes in this folder, in a checkout:
//   node .changeset/release.mjs version   raises the version, moves the changes to CHANGELOG.md, prints the version
//   node .changeset/release.mjs notes     prints the notes of the version in package.json
import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WORDS_MAX = 25;
const CHANGELOG = 'CHANGELOG.md';

/** The changes that wait, as lines of the changelog. Throws when one is not a single line, or is too long. */
function waitingChanges() {
  const files = readdirSync('.changeset').filter((file) => file.endsWith('.md') && file !== 'README.md');
  const changes = files.sort().map((file) => {
    const [, text = ''] = /^---\n[\s\S]*?^---\n([\s\S]*)$/m.exec(readFileSync(join('.changeset', file), 'utf8')) ?? [];
    const line = text.trim();
    const words = line.split(/\s+/).length;
    if (line === '') throw new Error(`.changeset/${file} says nothing; write one line below its front matter`);
    if (line.includes('\n')) throw new Error(`.changeset/${file} has several lines; write one`);
    if (words > WORDS_MAX) throw new Error(`.changeset/${file} has ${words} words; write at most ${WORDS_MAX}`);
    return `- ${line}`;
  });
  return { files, changes };
}

const manifest = (file) => JSON.parse(readFileSync(file, 'utf8'));
const ownVersion = () => manifest('package.json').version;

function version() {
  const { files, changes } = waitingChanges();
  const text = readFileSync(CHANGELOG, 'utf8');
  const current = ownVersion();
  const isUnreleased = text.includes(`\n## ${current} (unreleased)\n`);
  if (!isUnreleased && changes.length === 0) {
    throw new Error(`nothing has changed since ${current}: add a change with npx changeset`);
  }
  // A version that was announced and never released is released as it is.
  if (isUnreleased) for (const file of files) rmSync(join('.changeset', file));
  else changeset('version');
  const next = ownVersion();
  sameVersion(next);
  writeFileSync(CHANGELOG, withVersion(text, isUnreleased ? `${current} (unreleased)` : null, next, changes));
  return next;
}

/** The packages of a release have one version. */
function sameVersion(next) {
  for (const file of globSync('packages/*/package.json')) write(file, { ...manifest(file), version: next });
  const lock = manifest('package-lock.json');
  lock.version = next;
  lock.packages[''].version = next;
  write('package-lock.json', lock);
}

const write = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

/** The changelog with a version above all others; or with an announced one, whose lines stay below the new ones. */
function withVersion(text, announced, next, changes) {
  const heading = `${next} (${new Date().toISOString().slice(0, 10)})`;
  const lines = changes.length === 0 ? '' : `${changes.join('\n')}\n`;
  if (announced !== null) return text.replace(`\n## ${announced}\n\n`, () => `\n## ${heading}\n\n${lines}`);
  return text.replace(/\n## /, () => `\n## ${heading}\n\n${lines}\n## `);
}

function changeset(command) {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'changeset', command], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`changeset ${command} failed: ${stderr}${stdout}`);
}

/** What the changelog says of the version, without the heading. */
function notes() {
  const current = ownVersion();
  const [, ...sections] = readFileSync(CHANGELOG, 'utf8').split(/^## /m);
  const own = sections.find((section) => section.startsWith(`${current}\n`) || section.startsWith(`${current} `));
  if (own === undefined) throw new Error(`${CHANGELOG} has no heading "## ${current}"`);
  return own.slice(own.indexOf('\n')).trim();
}

const commands = { version, notes };
const [command = ''] = process.argv.slice(2);
try {
  if (!Object.hasOwn(commands, command)) throw new Error(`there is no ${command || 'command'}; use version or notes`);
  process.stdout.write(`${commands[command]()}\n`);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

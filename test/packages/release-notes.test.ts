import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { tempFolder } from '../support/app-context.ts';
import { outcome } from './packed.ts';

const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

/** A checkout with this changelog and these waiting changes. */
function checkout(t: TestContext, changelog: string, changes: Record<string, string>) {
  const folder = tempFolder(t);
  for (const part of ['package.json', 'package-lock.json', '.changeset/config.json', '.changeset/release.mjs'])
    cpSync(join(PROJECT, part), join(folder, part));
  for (const path of globSync('packages/*/package.json', { cwd: PROJECT })) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    cpSync(join(PROJECT, path), join(folder, path));
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  for (const [name, text] of Object.entries(changes)) writeFileSync(join(folder, '.changeset', `${name}.md`), text);
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const run = (command: string) => outcome(folder, [process.execPath, '.changeset/release.mjs', command]);
  return { folder, run, changelog: () => undated(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')) };
}

/** The day of the newest version is that of the test. */
const undated = (changelog: string) => changelog.replace(/^(## \S+) \(\d{4}-\d\d-\d\d\)$/m, '$1 (DAY)');

const change = (bump: string, line: string) => `---\n"broadsheet": ${bump}\n---\n\n${line}\n`;
const RELEASED = `# Changelog\n\nWhat changes.\n\n## ${VERSION}\n\n- The first version.\n`;

test('changesets become a version, lines of the changelog and release notes', async (t) => {
  const { folder, run, changelog } = checkout(t, RELEASED, {
    'blue-door': change('minor', '**Starter**: papers can be started with `npm create broadsheet`.'),
    'red-quay': change('patch', 'Feeds say $1 and $& as they are.'),
  });
  const made = await run('version');
  const [major = 0, minor = 0] = VERSION.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  assert.deepEqual([made.code, made.stdout, made.stderr], [0, `${next}\n`, '']);
  const lines =
    '- **Starter**: papers can be started with `npm create broadsheet`.\n- Feeds say $1 and $& as they are.\n';
  assert.equal(
    changelog(),
    RELEASED.replace(`## ${VERSION}`, () => `## ${next} (DAY)\n\n${lines}\n## ${VERSION}`),
  );
  assert.deepEqual(readdirSync(join(folder, '.changeset')).sort(), ['config.json', 'release.mjs']);
  for (const path of ['package.json', 'package-lock.json', ...globSync('packages/*/package.json', { cwd: folder })])
    assert.equal(json(folder, path).version, next, path);
  assert.equal(json(folder, 'package-lock.json').packages[''].version, next);
  assert.equal((await run('notes')).stdout, lines);

  const again = await run('version');
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^release: nothing has changed since .*: add a change with npx changeset\n$/);
});

test('an announced version is released as it is, with the changes that wait', async (t) => {
  const announced = RELEASED.replace(`## ${VERSION}`, `## ${VERSION} (unreleased)`);
  const { run, changelog } = checkout(t, announced, { 'blue-door': change('minor', 'One more.') });
  assert.equal((await run('version')).stdout, `${VERSION}\n`);
  assert.equal(
    changelog(),
    RELEASED.replace(`## ${VERSION}`, `## ${VERSION} (DAY)`).replace('- The first', '- One more.\n- The first'),
  );
});

test('a change that is no line of the changelog is refused by name, and nothing is changed', async (t) => {
  for (const [text, said] of [
    [`${'word '.repeat(26)}`, 'has 26 words; write at most 25'],
    ['One line.\n\nAnother.', 'has several lines; write one'],
    ['', 'says nothing; write one line below its front matter'],
  ] as const) {
    const { run, changelog } = checkout(t, RELEASED, { 'blue-door': change('minor', text) });
    const { code, stderr } = await run('version');
    assert.equal(code, 1);
    assert.equal(stderr, `release: .changeset/blue-door.md ${said}\n`);
    assert.equal(changelog(), RELEASED);
  }
});

test('all packages have one version, and the changes that wait are lines of the changelog', () => {
  for (const path of globSync('packages/*/package.json', { cwd: PROJECT }))
    assert.equal(json(PROJECT, path).version, VERSION, path);
  const waiting = readdirSync(join(PROJECT, '.changeset')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  for (const file of waiting) {
    const [, text = ''] =
      /^---\n[\s\S]*?^---\n([\s\S]*)$/m.exec(readFileSync(join(PROJECT, '.changeset', file), 'utf8')) ?? [];
    // A formatter of Markdown may take the front matter for a heading.
    assert.ok(text.trim() !== '', `${file} has no front matter, or no line below it`);
    assert.ok(text.trim().split(/\s+/).length <= 25 && !text.trim().includes('\n'), file);
  }
});

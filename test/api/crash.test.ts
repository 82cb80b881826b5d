import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { copyContent, run, runAlone, start, until } from '../support/program.ts';
import { scriptPaper } from '../support/script-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ORIGIN = 'http://crash.example';
/** Papers are pressed by name: the first has a font for each page. */
const PAPERS = ['japanese', 'the-plumb-line', 'the-leading-light'];

test('a server killed in its first press is made whole by the next start', { skip: ONLY_WIDE }, async (t) => {
  for (const files of [1, 60, 200]) {
    const folder = tempFolder(t);
    copyPapers(folder);
    const { child, ended } = start(t, folder, ['serve'], { ORIGIN });
    await until(() => (countOf(folder) >= files || child.exitCode !== null ? true : null));
    child.kill('SIGKILL');
    assert.equal((await ended).signal, 'SIGKILL');
    const { code, stderr } = await run(t, folder, ['press'], { ORIGIN });
    assert.equal(code, 0, stderr);
    await assertWhole(t, folder);
  }
});

test('a full press killed at any moment is made whole by the next press', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyPapers(folder);
  assert.equal((await run(t, folder, ['file'], { ORIGIN })).code, 0);
  const begin = Date.now();
  // Another address writes every page anew.
  assert.equal((await run(t, folder, ['press', '--full'], { ORIGIN: `${ORIGIN}:81` })).code, 0);
  const whole = Date.now() - begin;
  for (const part of [0.4, 0.6, 0.8]) {
    const { child, ended } = start(t, folder, ['press', '--full'], { ORIGIN: `${ORIGIN}:${part * 100}` });
    await new Promise((resolve) => setTimeout(resolve, whole * part));
    child.kill('SIGKILL');
    await ended;
    assertHtmlWhole(folder);
  }
  assert.equal((await run(t, folder, ['press'], { ORIGIN })).code, 0);
  await assertWhole(t, folder);
});

test('presses at the same time do not disturb each other', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyPapers(folder);
  assert.equal((await run(t, folder, ['file', '--no-press'], { ORIGIN })).code, 0);
  const outcomes = await Promise.all(
    [['press'], ['press'], ['press', '--full'], ['file']].map((args) => runAlone(t, folder, args, { ORIGIN })),
  );
  for (const { code, stderr } of outcomes) assert.equal(code, 0, stderr);
  await assertWhole(t, folder);
});

function copyPapers(folder: string): void {
  copyContent(folder);
  scriptPaper(folder, 'japanese', 'ja', 'broadsheet', ['arc-of-a-sidelight', 'red-on-the-wrong-side']);
}

function countOf(folder: string): number {
  return PAPERS.map((paper) => join(folder, 'papers', paper))
    .filter((tree) => existsSync(tree))
    .reduce(
      (sum, tree) =>
        sum + readdirSync(tree, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length,
      0,
    );
}

function assertHtmlWhole(folder: string): void {
  for (const paper of PAPERS) {
    for (const [path, text] of treeOf(join(folder, 'papers', paper))) {
      if (path.endsWith('.html')) assert.match(text, /<\/html>\s*$/, `${path} is whole`);
    }
  }
}

/** The tree is that of a full press of the same ledger elsewhere, and the audit finds no fault. */
async function assertWhole(t: TestContext, folder: string): Promise<void> {
  const audit = await run(t, folder, ['audit'], { ORIGIN });
  assert.equal(audit.code, 0, audit.stdout);
  const other = tempFolder(t);
  cpSync(join(folder, 'var'), join(other, 'var'), { recursive: true });
  assert.equal((await run(t, other, ['press', '--full'], { ORIGIN })).code, 0);
  for (const paper of PAPERS) {
    const [actual, expected] = [folder, other].map((root) => treeOf(join(root, 'papers', paper)));
    // The news sitemap alone ages.
    for (const tree of [actual, expected]) tree?.delete('sitemap-news.xml');
    assert.deepEqual([...(actual?.keys() ?? [])].sort(), [...(expected?.keys() ?? [])].sort());
    for (const [path, bytes] of expected ?? []) assert.ok(actual?.get(path) === bytes, `${paper}/${path} differs`);
  }
  assert.deepEqual(readdirSync(join(folder, 'papers')).sort(), readdirSync(join(other, 'papers')).sort());
}

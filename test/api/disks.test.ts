import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { copyContent, copyDemo, type Outcome, run, until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { mounted } from '../support/small-disk.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ORIGIN = { ORIGIN: 'http://disk.example' };

test('each obstacle is named with its cure, and once it is removed the press finishes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  assert.equal((await run(t, folder, ['file'], ORIGIN)).code, 0);
  const tree = join(folder, 'papers/the-plumb-line');
  const before = treeOf(tree);
  for (const [path, obstacle, words] of [
    ['stories', 'file', /stories\/.*there is a file where a folder belongs; move it away/],
    ['sections/time', 'file', /sections\/time\/.*there is a file where a folder belongs; move it away/],
    ['index.html', 'folder', /index\.html: there is a folder where the file belongs; move it away/],
    ['.', 'file', /there is a file where a folder belongs; move it away/],
  ] as const) {
    const at = join(tree, path);
    const aside = join(folder, 'aside');
    renameSync(at, aside);
    if (obstacle === 'file') writeFileSync(at, 'in the way');
    else mkdirSync(join(at, 'in-the-way'), { recursive: true });
    assertRefused(await run(t, folder, ['press', '--full'], ORIGIN), words);
    rmSync(at, { recursive: true });
    renameSync(aside, at);
    assert.equal((await run(t, folder, ['press'], ORIGIN)).code, 0);
    assert.deepEqual([...treeOf(tree)], [...before], `the tree is whole after ${path}`);
  }
  assert.equal((await run(t, folder, ['audit'], ORIGIN)).code, 0);
});

test('a disk that is full is named, and when there is room the press finishes', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  assert.equal((await run(t, folder, ['file', '--no-press'], ORIGIN)).code, 0);
  const disk = mounted(t, 'size=1m');
  if (disk === null) return t.skip('this user may not mount a small disk');
  assertRefused(await run(t, folder, ['press'], { ...ORIGIN, DIST_DIR: disk }), /the disk is full; free some space/);
  spawnSync('mount', ['-o', 'remount,size=64m', disk]);
  assert.equal((await run(t, folder, ['press'], { ...ORIGIN, DIST_DIR: disk })).code, 0);
  assert.equal((await run(t, folder, ['audit'], { ...ORIGIN, DIST_DIR: disk })).code, 0);
});

test('a disk that is full does not lose a filing', async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  const disk = mounted(t, 'size=1m');
  if (disk === null) return t.skip('this user may not mount a small disk');
  const env = { ...ORIGIN, DATA_DIR: join(disk, 'var') };
  // There is no room for the tables, then for the pieces, then for both.
  for (const size of ['1m', '2m']) {
    spawnSync('mount', ['-o', `remount,size=${size}`, disk]);
    assertRefused(await run(t, folder, ['file', '--no-press'], env), /cannot be written.*disk/);
  }
  spawnSync('mount', ['-o', 'remount,size=64m', disk]);
  assert.equal((await run(t, folder, ['file', '--no-press'], env)).code, 0);
  const { faults } = JSON.parse((await run(t, folder, ['audit', '--json'], env)).stdout) as { faults: string[] };
  assert.deepEqual(
    faults.filter((fault) => !/waits? for the press/.test(fault)),
    [],
  );
});

test('a disk that is mounted for reading only is named', async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  assert.equal((await run(t, folder, ['file', '--no-press'], ORIGIN)).code, 0);
  const disk = mounted(t, 'ro');
  if (disk === null) return t.skip('this user may not mount a small disk');
  for (const dist of [disk, join(disk, 'papers')]) {
    assertRefused(await run(t, folder, ['press'], { ...ORIGIN, DIST_DIR: dist }), /read-only/);
  }
});

test('a server whose press fails keeps serving what was on air, and recovers', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-tide' }]);
  const { url, stop } = await serveHere(t, folder);
  const path = join(folder, 'papers/the-tide/rss.xml');
  rmSync(path);
  mkdirSync(join(path, 'in-the-way'), { recursive: true });
  const file = join(folder, 'content/the-tide/stories/in-trouble.md');
  const { slug: _slug, prose, ...fields } = { ...storyBody('in-trouble'), air: new Date().toISOString() };
  writeFileSync(file, `---\n${JSON.stringify(fields)}\n---\n\n${prose}\n`);
  assertRefused(await run(t, folder, ['file', file], { ORIGIN: url }), /rss\.xml/);
  for (const path of ['/', '/stories/high-water/', '/feed.json']) {
    const { status, text } = await ask(url, `/the-tide${path}`);
    assert.equal(status, 200, path);
    assert.match(text, /(?:<\/html>|\})\s*$/);
  }
  rmSync(path, { recursive: true });
  await until(async () => ((await ask(url, '/the-tide/rss.xml')).text.includes('in-trouble') ? true : null));
  assert.equal((await stop()).code, 0);
  assert.equal((await run(t, folder, ['audit'], { ORIGIN: url })).code, 0);
});

/** The program ended with one line of cause and cure. */
function assertRefused({ code, stderr }: Outcome, words: RegExp): void {
  assert.equal(code, 1);
  assert.match(stderr, /^broadsheet: [^\n]+\n$/);
  assert.match(stderr, words);
}

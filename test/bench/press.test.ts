import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findHugo } from './hugo.ts';
import { pressFigures, type Turn } from './press-figures.ts';
import { requireSameKinds, writtenIn } from './written.ts';

function folderOf(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function program(folder: string, name: string, script: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const HUGO = 'echo hugo v0.99.1-abc+extended linux/amd64';

test('Hugo is found on the PATH', async (t) => {
  const folder = folderOf(t);
  const hugo = program(join(folder, 'bin'), 'hugo', HUGO);
  const go = program(join(folder, 'go'), 'go', 'exit 1');
  const found = await findHugo({ path: join(folder, 'bin'), cache: join(folder, 'cache'), go });
  assert.deepEqual(found, { program: hugo, version: 'hugo 0.99.1' });
});

test('where the PATH has none, Go builds 0.165.0 once, and leaves nothing else behind', async (t) => {
  const folder = folderOf(t);
  const [log, cache] = [join(folder, 'log'), join(folder, 'cache')];
  const made = `printf '#!/bin/sh\\n%s\\n' '${HUGO}' > "$GOBIN/hugo" && chmod 755 "$GOBIN/hugo"`;
  const go = program(folder, 'go', `echo "$GOBIN $*" >> '${log}' && ${made}`);
  for (let run = 0; run < 2; run++) {
    assert.deepEqual(await findHugo({ path: '', cache, go }), { program: join(cache, 'hugo'), version: 'hugo 0.99.1' });
  }
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  assert.equal(lines.length, 1);
  const [bin = '', ...said] = lines[0]?.split(' ') ?? [];
  assert.equal(said.join(' '), 'install github.com/gohugoio/hugo@v0.165.0');
  assert(!existsSync(bin));
});

test('Hugo is skipped without Go, or when it cannot be built', async (t) => {
  const folder = folderOf(t);
  const cache = join(folder, 'cache');
  assert.equal(await findHugo({ path: '', cache, go: join(folder, 'go') }), null);
  const go = program(folder, 'go', 'echo no network >&2; exit 1');
  assert.equal(await findHugo({ path: '', cache, go }), null);
  assert(!existsSync(cache));
});

const turn = (cold: number, warm: number, synced?: number): Turn => {
  const ran = (wall: number) => ({ wall, cpu: wall * 2, peak: 499e6, stdout: '', stderr: '' });
  return { cold: ran(cold), warm: ran(warm), synced: synced ?? null };
};

test('medians are held to the budgets of their disk and size', () => {
  const ours = [turn(1_300, 700), turn(9_000, 9_000), turn(1_000, 500)];
  const others = [turn(1_000, 1_000, 2_600), turn(1_000, 1_000, 2_600), turn(1_000, 1_000, 2_600)];
  const of = (size: number, disk: 'memory' | 'disk', hugo = others) =>
    pressFigures({ size, disk, ours, others: hugo, hugo: 'hugo 0.165.0' }).map(({ ratio, budget, holds }) => [
      ratio,
      budget,
      holds,
    ]);
  const peak = [1, '', null];
  assert.deepEqual(of(10_000, 'memory'), [
    [1.3, '≤ 1.3', true],
    [1.3, '≤ 1.3', true],
    [0.7, '≤ 0.8', true],
    [0.7, '≤ 0.8', true],
    peak,
  ]);
  assert.deepEqual(of(100_000, 'disk'), [
    [1.3, '≤ 0.8', false],
    [1.3, '', null],
    [0.5, '', null],
    [0.7, '', null],
    [0.7, '', null],
    [1, '< 500 MB', true],
  ]);
  assert(of(2_000, 'memory').every(([, budget, holds]) => budget === '' && holds === null));
  assert(of(10_000, 'memory', []).every(([ratio, , holds]) => ratio === null && holds === null));
});

test('pages and feeds are counted by kind, and a Hugo that prints fewer is refused', (t) => {
  const folder = folderOf(t);
  const fill = (tree: string, paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, tree, path)), { recursive: true });
      writeFileSync(join(folder, tree, path), 'four');
    }
    return writtenIn(join(folder, tree));
  };
  const pages = ['index.html', 'stories/a/index.html', 'sections/city/index.html', 'days/2026-11-23/index.html'];
  const besides = ['stories/a.md', 'stories/a/proof.json', 'embed/01m8/index.html'];
  const ours = fill('ours', [...pages, ...besides, 'rss.xml', 'sections/city/rss.xml', 'masthead/ada/rss.xml']);
  const counts = { stories: 1, sections: 1, days: 1, feeds: 2 };
  assert.deepEqual(ours, { ...counts, besideStories: 3, files: 10, bytes: 40 });
  const hugo = fill('hugo', [...pages, 'index.xml', 'sections/city/index.xml']);
  assert.deepEqual(hugo, { ...counts, besideStories: 0, files: 6, bytes: 24 });
  requireSameKinds(ours, hugo);
  assert.throws(() => requireSameKinds(ours, { ...hugo, feeds: 1 }), /hugo printed 1 feeds, ours 2/);
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GROUPS } from '../../website/sidebar.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CODE_OF_CONDUCT.md',
  'SECURITY.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Examples in code are no links of the manual, as the site sees it too. */
const withoutCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```|`[^`\n]*`/gm, '');

test('every link of the manual leads to a file', () => {
  const broken = PAGES.flatMap((page) =>
    [...withoutCode(readFileSync(join(PROJECT, page), 'utf8')).matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !existsSync(join(PROJECT, dirname(page), to)))
      .map((to) => `${page}: ${to}`),
  );
  assert.deepEqual(broken, []);
});

test('every link to a heading leads to one', () => {
  // As GitHub makes them: lower case, without punctuation, a hyphen for each blank.
  const anchors = (page: string) =>
    [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const broken = PAGES.flatMap((page) =>
    [...readFileSync(join(PROJECT, page), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
      .filter(([, to = '', anchor = '']) => {
        const target = join(PROJECT, to === '' ? page : join(dirname(page), to));
        return target.endsWith('.md') && !anchors(target).includes(anchor);
      })
      .map(([link]) => `${page}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('every file of the code that the manual names is there', () => {
  const missing = PAGES.flatMap((page) =>
    [...readFileSync(join(PROJECT, page), 'utf8').matchAll(/`((?:src|api|test|bin|\.ci|\.github)\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(PROJECT, path)))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('every page of the manual says for whom it is, and the website lists it once', () => {
  const names = PAGES.filter((page) => page.startsWith('docs/')).map((page) =>
    page.slice('docs/'.length, -'.md'.length),
  );
  const silent = names.filter(
    (name) => !/^# .+\n\n_For [^_\n]+\._\n\n/.test(readFileSync(join(PROJECT, `docs/${name}.md`), 'utf8')),
  );
  assert.deepEqual(silent, []);
  assert.deepEqual(Object.values(GROUPS).flat().sort(), names.sort());
});

test('the README leads to every page of the manual, and stays short', () => {
  const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8');
  const missing = PAGES.filter((page) => page.startsWith('docs/') && !readme.includes(`](${page})`));
  assert.deepEqual(missing, []);
  assert(statSync(join(PROJECT, 'README.md')).size <= 12_000);
});

test('the manual lists every command and every setting', () => {
  const read = (file: string) => readFileSync(join(PROJECT, file), 'utf8');
  const declared = (file: string, name: RegExp) => [...read(file).matchAll(name)].map(([, found = '']) => found);
  const commands = declared('src/cmd/commands.ts', /^ {2}'?([a-z-]+)'?: \(\) => import/gm);
  // Settings that are no longer supported are only refused.
  const settings = readdirSync(join(PROJECT, 'src/server/settings')).flatMap((file) =>
    declared(`src/server/settings/${file}`, /^ {2,4}([A-Z][A-Z0-9_]+):(?! withdrawn)/gm),
  );
  assert.ok(commands.length > 15 && settings.length > 30);
  const [onCommands, onSettings] = [read('docs/commands.md'), read('docs/settings.md')];
  const missing = [
    ...commands.filter((name) => !new RegExp(`\`${name}[ \`]`).test(onCommands)),
    ...settings.filter((name) => !onSettings.includes(`\`${name}\``)),
  ];
  assert.deepEqual(missing, []);
});

test('performance.md is short, and each figure has a part of the benchmark, a commit and a day', () => {
  const text = readFileSync(join(PROJECT, 'docs/performance.md'), 'utf8');
  assert(text.length <= 12_000);
  const parts = [...readFileSync(join(PROJECT, 'test/bench/bench.ts'), 'utf8').matchAll(/^ {2}(\w+): \w+Part,$/gm)].map(
    ([, part]) => part,
  );
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:what|-+) /.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
  assert(rows.length > 0 && parts.length > 20);
  for (const [what, , , command = '', commit = ''] of rows) {
    const [, part] = /^`(?:BENCH_\w+=\S+ )*(?:… )?(\w+)`$/.exec(command) ?? [];
    assert(parts.includes(part), `${what}: ${command} is no part of the benchmark`);
    assert.match(commit, /^`[0-9a-f]{8}`, 20\d\d-\d\d-\d\d$/, what);
  }
});

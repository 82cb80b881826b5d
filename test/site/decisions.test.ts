import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = 'docs/decisions';
const read = (file: string) => readFileSync(join(PROJECT, file), 'utf8');

interface Decision {
  file: string;
  number: string;
  title: string;
  status: string;
  text: string;
}

const names = readdirSync(join(PROJECT, FOLDER)).filter((name) => name !== 'README.md');
const decisions: Decision[] = names.map((name) => {
  const text = read(`${FOLDER}/${name}`);
  const [, number = '', title = ''] = /^# (\d{3}): (.+)\n/.exec(text) ?? [];
  const [, status = ''] = /^Status: (.+)$/m.exec(text) ?? [];
  return { file: name, number, title, status, text };
});

test('decisions are at most forty files of at most forty lines of a hundred characters', () => {
  assert(decisions.length <= 40);
  for (const { file, text } of decisions) {
    assert(text.trimEnd().split('\n').length <= 40, `${file} has more than forty lines`);
    // A paragraph is one line here, so the size counts what a reader would see as lines. A table's padding is not read.
    const size = text.replaceAll(/ {2,}|-{4,}/g, ' ').length;
    assert(size <= 4_000, `${file} has ${size} characters`);
  }
});

test('numbers of decisions are unique, without gaps, and those of their files', () => {
  assert.deepEqual(
    decisions.map((one) => one.number),
    decisions.map((_, at) => String(at + 1).padStart(3, '0')),
  );
  for (const { file, number } of decisions) assert.match(file, new RegExp(`^${number}-[a-z0-9-]+\\.md$`));
});

test('each decision has a title, a status with its date, and a decision', () => {
  for (const { file, title, status, text } of decisions) {
    assert(title.length > 10 && title.length <= 100, `${file}: its title`);
    assert.match(status, /^(?:accepted|deprecated|superseded by \d{3}), 20\d\d-\d\d-\d\d$/, `${file}: its status`);
    const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part);
    // The table of dependencies is its own context and consequence.
    const expected = file.endsWith('-dependencies.md') ? [] : ['Context', 'Decision', 'Consequences'];
    assert.deepEqual(parts, expected, `${file}: its parts`);
  }
});

test('what supersedes a decision is another one, which is in force', () => {
  for (const { file, number, status } of decisions) {
    const [, by] = /^superseded by (\d{3})/.exec(status) ?? [];
    if (by === undefined) continue;
    const other = decisions.find((one) => one.number === by);
    assert(other !== undefined && by !== number, `${file}: superseded by ${by}`);
    assert.match(other.status, /^accepted/, `${file}: superseded by ${by}`);
  }
});

test('decisions name decisions, files and links that exist', () => {
  const wrong = decisions.flatMap(({ file, text }) => {
    const paths = [...text.matchAll(/`((?:src|api|test|docs|tools|deploy|bin|\.ci|\.github)\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(PROJECT, path)));
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !existsSync(join(PROJECT, FOLDER, to)));
    const others = [...text.matchAll(/\((\d{3})\)/g)]
      .map(([, number = '']) => number)
      .filter((number) => decisions.every((one) => one.number !== number));
    return [...paths, ...links, ...others].map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(wrong, []);
});

test('the index lists every decision with its status', () => {
  const rows = decisions.map(
    ({ file, number, title, status }) => `| [${number}](${file}) | ${title} | ${status.replace(/, .*/, '')} |`,
  );
  const listed = read(`${FOLDER}/README.md`)
    .split('\n')
    .filter((line) => line.startsWith('| ['))
    .map((line) => line.replaceAll(/ {2,}/g, ' '));
  assert.deepEqual(listed, rows);
});

test('the table of dependencies has each package of production with its licence', () => {
  const rows = read(`${FOLDER}/038-dependencies.md`)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const listed = rows.flatMap(([, packages = '']) => [...packages.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  assert.deepEqual(listed.toSorted(), Object.keys(dependencies).toSorted());

  for (const [, packages = '', , licences = ''] of rows) {
    for (const [, name = ''] of packages.matchAll(/`([^`]+)`/g)) {
      const { license } = JSON.parse(read(join('node_modules', name, 'package.json'))) as { license: string };
      assert(licences.split(', ').includes(license), `${name} is under ${license}`);
    }
  }
});

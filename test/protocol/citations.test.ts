import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchorsIn, sectionsIn } from './protocol-page.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(PROJECT, file), 'utf8');
const page = read('docs/protocol.md');

const code = ['src', 'api', 'test', 'bin'].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(?:ts|astro|m?js|py|css)$/.test(name)),
);
const manual = [
  ...readdirSync(PROJECT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const comments = (file: string) => [...read(file).matchAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm)].join('\n');

test('no comment cites a document that is not in this repository', () => {
  const gone = /.*(?:\b(?:wire|design|names|facts|news-desk)\.md\b|(?<!`)\bspec\b).*/g;
  const cited = code.flatMap((file) => [...comments(file).matchAll(gone)].map(([line]) => `${file}: ${line.trim()}`));
  assert.deepEqual(cited, []);
});

test('every section of the protocol that is cited is there', () => {
  const sections = sectionsIn(page);
  assert(sections.size > 50);
  const cited = /\bprotocol (\d{1,2}(?:\.\d{1,2})?(?:(?:, | and | to )\d{1,2}(?:\.\d{1,2})?)*)(?![\d-])/g;
  const own = /\bsections? (\d{1,2}(?:\.\d{1,2})?)\b/g;
  const missing = (file: string, text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].flatMap(([, list = '']) =>
      list
        .split(/, | and | to /)
        .filter((section) => !sections.has(section))
        .map((section) => `${file}: ${section}`),
    );
  const all = [...code, ...manual].flatMap((file) => missing(file, read(file), cited));
  const ofRfcs = /(?:RFC \d+|tlog-\w+),? section [\d.]+/g;
  assert.deepEqual([...all, ...missing('docs/protocol.md', page.replaceAll(ofRfcs, ''), own)], []);
});

test('every link into the protocol leads to a heading', () => {
  const anchors = anchorsIn(page);
  const broken = manual.flatMap((file) =>
    [...read(file).matchAll(/protocol\.md#([^)]*)\)/g)]
      .filter(([, anchor = '']) => !anchors.has(anchor))
      .map(([link]) => `${file}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

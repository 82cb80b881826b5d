import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentsOf } from '../../src/desk/press/page-prose.ts';
import { proseHtml } from '../../src/desk/press/prose-html.ts';
import * as fc from '../support/properties.ts';

const FACTS = [{ n: 1, statement: 'So it is.', source: 'Harbour office', instrument: 'A table', claim_key: null }];
const headingsOf = (prose: string) => proseHtml(prose, FACTS, (path) => path).headings;
const idsOf = (prose: string): string[] =>
  [...proseHtml(prose, FACTS, (path) => path).html.matchAll(/<h\d id="([^"]*)">/g)].map(([, id = '']) => id);

test('a heading has an id of its words, in any script, without marks and markers', () => {
  for (const [heading, id] of [
    ['What the *tide* does, twice', 'h-what-the-tide-does-twice'],
    ['Ebbe & Flut: Größe', 'h-ebbe-flut-größe'],
    ['المد والجزر', 'h-المد-والجزر'],
    ['潮の満ち引き', 'h-潮の満ち引き'],
    ['ज्वार भाटा', 'h-ज्वार-भाटा'],
    ['`code()` and [a link](https://a.example/)', 'h-code-and-a-link'],
    ['A fact[^1] and a note[^tide]', 'h-a-fact-and-a-note'],
    ['— …', 'h-section'],
    ['__proto__', 'h-proto'],
    ['"><script>', 'h-script'],
  ] as const) {
    assert.deepEqual(idsOf(`## ${heading}\n\n[^tide]: x`), [id], heading);
  }
  assert.equal(idsOf(`## ${'🙂a'.repeat(200)}`)[0]?.isWellFormed(), true);
});

test('every id is there once, also where a number is part of a heading', () => {
  const prose = ['A', 'A', 'A 2', 'A', '!', '?'].map((text) => `## ${text}`).join('\n\n');
  assert.deepEqual(idsOf(prose), ['h-a', 'h-a-2', 'h-a-2-2', 'h-a-3', 'h-section', 'h-section-2']);
  const text = fc.constantFrom(
    '## a\n\n',
    '## a 2\n\n',
    '## a-2\n\n',
    '> ## a\n\n',
    '# a 2 2\n\n',
    '- ## A\n\n',
    '## section\n\n',
    '## !\n\n',
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (parts) => {
      const ids = idsOf(parts.join(''));
      assert.equal(new Set(ids).size, ids.length, ids.join());
    }),
    { numRuns: 200 },
  );
});

test('ids of ten thousand equal headings are made in linear time', () => {
  const cost = (count: number): number => {
    const start = process.threadCpuUsage().user;
    headingsOf('# a\n'.repeat(count));
    return process.threadCpuUsage().user - start;
  };
  cost(1_000);
  const [small, large] = [cost(1_200), cost(9_600)];
  assert.ok(large < Math.max(small, 10_000) * 24, `${small} µs, then ${large} µs`);
});

test('a long piece with four headings has a table of contents of its two upper levels', () => {
  const prose =
    '### One\n\n#### Part[^1] of it\n\n##### Too deep\n\n### Two\n\n> ### Quoted\n\n### Three\n\n[^n]: x\n\n    ### In a note';
  const prints = proseHtml(`${prose}\n\nSee[^n].`, FACTS, (path) => path);
  assert.deepEqual(contentsOf(prints, 600), [
    { id: 'h-one', text: 'One', parts: [{ id: 'h-part-of-it', text: 'Part of it' }] },
    { id: 'h-two', text: 'Two', parts: [] },
    { id: 'h-three', text: 'Three', parts: [] },
  ]);
  assert.deepEqual(contentsOf(prints, 599), []);
  assert.deepEqual(contentsOf({ headings: prints.headings.slice(0, 4) }, 600), []);
  assert.deepEqual(
    contentsOf({ headings: headingsOf('## A\n\n# B\n\n#### C\n\n### D\n\n## E') }, 600).map(({ text, parts }) => [
      text,
      parts.length,
    ]),
    [
      ['A', 0],
      ['B', 1],
      ['E', 0],
    ],
  );
});

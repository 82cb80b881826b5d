import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseProblems } from '../../src/desk/door/door.ts';
import { ANGLES_MAX, LINES_MAX, MARKUP_MAX, MAX, NESTING_MAX } from '../../src/desk/door/piece.ts';
import { markdown, parseProse } from '../../src/desk/door/prose.ts';
import { excessIn } from '../../src/desk/door/prose-bounds.ts';
import * as properties from '../support/properties.ts';

const problemsOf = (prose: string) => proseProblems(prose, { hasMedia: () => true });

test('a prose with too much mark-up is refused by what it counts, with the count, the limit and the cure', () => {
  assert.deepEqual(problemsOf('*a* '.repeat(MARKUP_MAX / 2)), []);
  assert.deepEqual(problemsOf(`${'*a* '.repeat(MARKUP_MAX / 2)}\\`), [
    {
      field: 'prose',
      rule: 'too_much_markup',
      message:
        '20001 characters of mark-up (one of * _ ~ ` [ ] < & | \\, most of them asterisks: 20000) are more than 20000; split the piece, or use less mark-up',
    },
  ]);
  assert.deepEqual(problemsOf('a < b '.repeat(ANGLES_MAX)), []);
  assert.deepEqual(problemsOf('a < b '.repeat(ANGLES_MAX + 1)), [
    {
      field: 'prose',
      rule: 'too_much_markup',
      message:
        '5001 angle brackets (<) are more than 5000; split the piece, or write fewer addresses in angle brackets',
    },
  ]);
});

test('a prose with too many lines is refused', () => {
  assert.deepEqual(problemsOf('a\n'.repeat(LINES_MAX - 1)), []);
  assert.deepEqual(problemsOf(`${'a\n'.repeat(LINES_MAX)}b`), [
    { field: 'prose', rule: 'too_many_lines', message: '10001 lines are more than 10000; split the piece' },
  ]);
});

test('quotes and lists that are nested too deep are refused where they begin, and not dropped unseen', () => {
  const message = (line: number) => `more than 16 quotes and lists are nested in line ${line} of the prose; nest fewer`;
  const stair = (levels: number) => Array.from({ length: levels }, (_, n) => `${'  '.repeat(n)}- a`).join('\n');
  for (const nested of ['> ', '>', '- ', '1. ', '> - ', '>\t', '-\t']) {
    const each = nested === '> - ' ? 2 : 1;
    assert.deepEqual(problemsOf(`Up.\n\n${nested.repeat(NESTING_MAX / each)}a`), [], nested);
    assert.deepEqual(
      problemsOf(`Up.\n\n${nested.repeat(NESTING_MAX / each + 1)}a`),
      [{ field: 'prose', rule: 'nested_too_deep', message: message(3), offset: 5 }],
      nested,
    );
  }
  assert.deepEqual(problemsOf(stair(NESTING_MAX)), []);
  const [problem] = problemsOf(stair(NESTING_MAX + 1));
  assert.equal(problem?.message, message(NESTING_MAX + 1));
  assert.deepEqual(problemsOf(`Code:\n\n${' '.repeat(80)}x`), [], 'a deep indent is code');
});

test('every excess is reported together', () => {
  const found = problemsOf('<|\n'.repeat(MARKUP_MAX));
  assert.deepEqual(
    found.map(({ rule, message }) => [rule, message.split(' ')[0]]),
    [
      ['too_many_lines', '20001'],
      ['too_much_markup', '40000'],
      ['too_much_markup', '20000'],
    ],
  );
});

test('no quote or list in accepted prose is deeper than the limit', () => {
  const bits = properties.constantFrom(
    '> ',
    '>',
    '- ',
    '1. ',
    '  ',
    '\t',
    '\n',
    'a',
    '\n\n',
    '    ',
    '* ',
    '-\n',
    '[^a]: ',
    '\n[^b]:\n',
  );
  properties.assert(
    properties.property(properties.array(bits, { maxLength: 120 }), (pieces) => {
      const prose = pieces.join('');
      let depth = 0;
      let deepest = 0;
      for (const { type, nesting } of markdown.parse(prose, {})) {
        if (/^(?:blockquote|bullet_list|ordered_list)_/.test(type)) depth += nesting;
        deepest = Math.max(deepest, depth);
      }
      const isRefused = excessIn(prose).some(({ rule }) => rule === 'nested_too_deep');
      assert.equal(isRefused, deepest > NESTING_MAX, JSON.stringify(prose));
    }),
    { numRuns: 500 },
  );
});

test('a text of the maximum length with the mark-up of an article is accepted', () => {
  const paragraph = `A [link](https://a.example/) and *stress*, \`code\` and more. ${'Words go on. '.repeat(40)}\n\n`;
  assert.deepEqual(problemsOf(paragraph.repeat(Math.floor(MAX.prose / paragraph.length))), []);
});

test('rejected prose costs less than the most expensive accepted prose', () => {
  const cost = (prose: string) => {
    const times = [1, 2, 3].map(() => {
      const { user, system } = process.threadCpuUsage();
      parseProse(prose);
      const now = process.threadCpuUsage();
      return now.user + now.system - user - system;
    });
    return Math.min(...times);
  };
  const taken = '[a](http://ü.example/) '.repeat(MARKUP_MAX / 2);
  assert.deepEqual(parseProse(taken).excess, []);
  const limit = cost(taken);
  for (const bit of ['- a\n', '<a@b.example>', '[a](b)\n\n', '*a* ', '> ', '|a', '<x\n', '`a` ', '![', '&amp;']) {
    const refused = `${'>'.repeat(100)}${bit.repeat(MAX.prose / bit.length - 100)}`;
    assert.notDeepEqual(parseProse(refused).excess, [], bit);
    assert.ok(cost(refused) < limit, `${bit} takes ${cost(refused)} µs, and not less than ${limit}`);
  }
});

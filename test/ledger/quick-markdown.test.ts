import assert from 'node:assert/strict';
import { test } from 'node:test';
import markdownit from 'markdown-it';
import { quicken } from '../../src/ledger/quick-markdown.ts';
import * as properties from '../support/properties.ts';

const plain = markdownit({ html: false, linkify: false });
const quick = markdownit({ html: false, linkify: false });
quicken(quick);

const PIECES = [
  ...'\n \\`~*_[]!<&>()#-+=:|"\'{}^@$%.1a“é'.split(''),
  ...['\n\n', '  \n', '\\\n', '**', '__', '~~', '``', '```\n', '    ', '- ', '1. ', '> ', '# ', '---\n', '===\n'],
  ...['![', '](', '](/x "t")', '[^1]', '[a]: /b\n', '<https://a.example/>', '<b>', '&amp;', '&#38;', '&nope;'],
  ...['| a | b |\n|---|---|\n| c | d |\n', 'https://a.example/b-c', 'twenty-two', '\ud83d\ude00', '\ud800', '\0', '\t'],
];

test('the quick parser makes the tokens of markdown-it', () => {
  const prose = properties.array(properties.constantFrom(...PIECES), { maxLength: 60 });
  properties.assert(
    properties.property(prose, (pieces) => {
      const text = pieces.join('');
      // As JSON: the classes differ, and the order of the members.
      assert.deepEqual(
        JSON.parse(JSON.stringify(quick.parse(text, {}))),
        JSON.parse(JSON.stringify(plain.parse(text, {}))),
      );
      assert.equal(quick.render(text), plain.render(text));
    }),
    { numRuns: 500 },
  );
});

test('tokens and states have the members of those of markdown-it', () => {
  const members = (of: object) => Object.keys(of).sort();
  const inline = (md: typeof plain) => new md.inline.State('text', md, {}, []);
  assert.deepEqual([...members(inline(quick)), 'Token'].sort(), members(inline(plain)));
  assert.deepEqual(members(inline(quick).push('a', 'b', 0)), members(inline(plain).push('a', 'b', 0)));
  assert.ok(inline(quick).push('a', 'b', 0) instanceof inline(plain).Token);
});

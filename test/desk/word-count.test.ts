import assert from 'node:assert/strict';
import test from 'node:test';
import { wordCount } from '../../src/desk/story.ts';

/** The definition: the parts between white space that have a letter or a number. */
const definition = (text: string) => text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;

test('counts the words of every script as its definition does', () => {
  // Lone halves come before pairs, so that what was learned from them cannot be used for the pairs.
  const characters = [0xd801, 0xdca0, 0x1f600, 0x104a0, 0x1d49c, ...Array.from({ length: 0x3100 }, (_, code) => code)];
  for (const character of characters.map((code) => String.fromCodePoint(code))) {
    for (const text of [`a ${character} b`, `${character}a.`, `— ${character}`, `${character}${character}`]) {
      assert.equal(wordCount(text, 'en'), definition(text), JSON.stringify(text));
    }
  }
});

test('does not count markers and link targets', () => {
  assert.equal(
    wordCount('Rates[^1] fell, [says](https://a.example/b) the bank. [open](https://a.example/[^2]', 'en'),
    6,
  );
});

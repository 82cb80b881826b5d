import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexText, matchExpression, QUERY_MAX, searchTerms, searchText, TERMS_MAX } from '../../src/desk/search.ts';
import { Fault } from '../../src/shared/fault.ts';
import * as fc from '../support/properties.ts';

/** The refusal of a query. */
function refusal(q: string): Fault {
  try {
    searchTerms(q);
  } catch (error) {
    assert(error instanceof Fault, String(error));
    assert.equal(error.code, 'invalid_request');
    assert.deepEqual(error.details, { field: 'q' });
    return error;
  }
  throw new Error(`${JSON.stringify(q)} was taken`);
}

test('a query is one to four terms, parted by blanks of any kind', () => {
  assert.deepEqual(searchTerms('tide'), ['tide']);
  assert.deepEqual(searchTerms('  leap\t second\u00a0of\u30002016\n'), ['leap', 'second', 'of', '2016']);
  assert.deepEqual(searchTerms('cafe\u0301'), ['caf\u00e9']);
  assert.match(refusal('a b c d e').message, /^q has 5 terms \(it begins "a b c d e"\), more than 4; leave some out$/);
  assert.equal(TERMS_MAX, 4);
});

test('a query has 1 to 120 characters after trimming', () => {
  for (const letter of ['x', '\u00e9', '東', '😀', '𝒳']) {
    searchTerms(letter.repeat(QUERY_MAX));
    searchTerms(` ${letter.repeat(QUERY_MAX)}\n`);
    assert.match(refusal(letter.repeat(QUERY_MAX + 1)).message, /^q has 121 characters .*, more than 120; shorten it$/);
  }
  for (const empty of ['', ' ', '\t\n\u3000']) assert.match(refusal(empty).message, /^q is empty; give one to four/);
  assert.equal(QUERY_MAX, 120);
});

test('a term without a letter or a digit can match no word; it counts as a term all the same', () => {
  assert.deepEqual(searchTerms('* " :: 😀'), []);
  assert.deepEqual(searchTerms('tide & harbour'), ['tide', 'harbour']);
  assert.deepEqual(searchTerms('\u0000 \ud800 \u0301 x'), ['x']);
  refusal('* * * * *');
});

test('texts that differ in case and accents alone are folded to the same words', () => {
  const same: [string, ...string[]][] = [
    ['harbour', 'HARBOUR', 'Har\u00adbour', 'ｈａｒｂｏｕｒ'],
    ['creme brulee', 'Crème Brûlée', 'CRE\u0300ME BRU\u0302LE\u0301E'],
    ['strasse', 'Straße', 'STRASSE', 'STRAẞE'],
    ['istanbul', 'İstanbul', 'ISTANBUL', 'ıstanbul'],
    ['viet nam dong', 'Việt Nam đồng'],
    ['lodz aeroe oeuvre', 'Łódź Ærøe Œuvre'],
    ['final ffi 2', 'ﬁnal ﬃ ²'],
    ['οδοσ', 'ΟΔΟΣ', 'οδός', 'Οδος'],
    ['елка', 'Ёлка'],
    ['محمد', 'مُحَمَّد', 'محـــمد'],
    ['שלום', 'שָׁלוֹם'],
    ['が', 'か\u3099'],
    ['ガ', 'ｶﾞ'],
    ['한국', '한국'.normalize('NFD')],
  ];
  for (const [folded, ...others] of same) for (const text of others) assert.equal(searchText(text), folded, text);
});

test('distinguishing characters stay', () => {
  const different: [string, string][] = [
    ['か', 'が'],
    ['ハ', 'パ'],
    ['की', 'का'],
    ['क', 'क्'],
    ['ก่า', 'กา'],
    ['한', '하'],
    ['தமிழ்', 'தமழ'],
    ['ა', 'ბ'],
  ];
  for (const [a, b] of different) assert.notEqual(searchText(a), searchText(b), `${a} ${b}`);
});

test('unspaced scripts are split by character, others at anything but letters and digits', () => {
  assert.equal(searchText('東京タワー, 2026年'), '東 京 タ ワ ー 2026 年');
  assert.equal(searchText('กาแฟ'), 'ก า แ ฟ');
  assert.equal(searchText('ភាសា'), [...'ភាសា'].join(' '));
  assert.equal(searchText('हिन्दी भाषा'), 'हिन्दी भाषा');
  assert.equal(searchText('don’t e-mail: AT&T’s (C++) 1,000.50\u200bx'), 'don t e mail at t s c 1 000 50 x');
});

test('lines of ASCII and punctuation are folded by the same rules as all others', () => {
  const code = fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0x2000, max: 0x206f }));
  const line = fc
    .array(
      code.map((point) => String.fromCharCode(point)),
      { maxLength: 40 },
    )
    .map((chars) => chars.join(''));
  fc.assert(
    fc.property(line, (text) => {
      // An accented word after it takes the line through the rules for every script.
      assert.equal(searchText(text), searchText(`${text} é`).replace(/ ?e$/, ''));
    }),
  );
});

test('folding is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const folded = searchText(text);
      assert.equal(searchText(folded), folded);
      assert.match(folded, /^(?:[\p{L}\p{M}\p{N}]+(?: [\p{L}\p{M}\p{N}]+)*)?$/u);
    }),
    { numRuns: 2_000 },
  );
});

test('the index holds what a reader reads: no markers, no targets of links', () => {
  const prose =
    'The **ti**de[^1] [rose](https://target.example/secret "titled").\n\n`code[^2]` <https://shown.example/>';
  const words = indexText('harbor-ledger', { headline: 'Höhe', dek: 'Dek', prose }).split(' ');
  assert.deepEqual(
    words.filter((word) => /^[a-z0-9]+$/.test(word)),
    ['hohe', 'dek', 'the', 'tide', 'rose', 'code', 'https', 'shown', 'example'],
  );
});

test('the match expression is always quoted words joined by AND', () => {
  assert.equal(
    matchExpression('p', ['tide', 'TIDE', 'e-mail', '東京']).replace(/"[^"]*"$/, '"p"'),
    '"e mail"* AND "tide"* AND "東 京" AND "p"',
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), (q) => {
      let terms: string[];
      try {
        terms = searchTerms(q);
      } catch {
        return;
      }
      assert.match(matchExpression('p', terms), /^(?:"[\p{L}\p{M}\p{N} ]+"\*? AND )*"[^" ]+"$/u);
    }),
    { numRuns: 2_000 },
  );
});

test('the index holds the words of any prose, and of a heap of different ones those that come first', () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `w${n.toString(36)}`);
  const held = (prose: string) => new Set(indexText('p', { headline: 'h', dek: 'd', prose }).split(' '));
  const found = held(`${words.join(' ')} ${words[0]} last`);
  assert.ok(found.has('w0') && found.has(words[14_999] ?? ''));
  assert.ok(!found.has(words[15_000] ?? '') && !found.has('last'));
  // However long a prose is, what it repeats is held where it stands.
  const long = `${words.slice(0, 10_000).join(' ')} ${'tide '.repeat(20_000)}last`;
  assert.ok(held(long).has('last'));
  assert.ok(indexText('p', { headline: 'h', dek: 'd', prose: long }).endsWith('tide tide last'));
});

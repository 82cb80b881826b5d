import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexQuery, indexText, QUERY_MAX, searchTerms, searchText, TERMS_MAX } from '../../src/desk/search.ts';
import { pairFilter, pairsOf } from '../../src/desk/word-pairs.ts';
import { wordTokens } from '../../src/desk/word-tokens.ts';
import { Fault } from '../../src/fault.ts';
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

test('what makes another word stays', () => {
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

test('scripts without blanks are parted by the character, others at what is no letter or digit', () => {
  assert.equal(searchText('東京タワー, 2026年'), '東 京 タ ワ ー 2026 年');
  assert.equal(searchText('กาแฟ'), 'ก า แ ฟ');
  assert.equal(searchText('ភាសា'), [...'ភាសា'].join(' '));
  assert.equal(searchText('हिन्दी भाषा'), 'हिन्दी भाषा');
  assert.equal(searchText('don’t e-mail: AT&T’s (C++) 1,000.50\u200bx'), 'don t e mail at t s c 1 000 50 x');
});

test('folding what is folded changes nothing', () => {
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
  const words = indexText('harbor-ledger', { headline: 'Höhe', dek: 'Dek', prose }).words.split(' ');
  assert.deepEqual(
    words.filter((word) => /^[a-z0-9]+$/.test(word)),
    ['hohe', 'dek', 'the', 'tide', 'rose', 'code', 'https', 'shown', 'example'],
  );
});

test('tokens are the beginnings of words, long words, and words with two letters of the next one, each once', () => {
  assert.deepEqual(wordTokens(''), '');
  const tokens = (words: string) => wordTokens(words).split(' ').sort();
  const beginnings = ['o', 'of', 't', 'th', 'the', 'ti', 'tid', 'tide', 'tie', 'tied', '京', '東', '𠮷'];
  const pairs = ['of¦ti', 'the¦of', 'tide¦ti', 'tide¦東', 'ti¦of', '京¦𠮷', '東¦京', '𠮷¦th'];
  assert.deepEqual(tokens('tide ti of tide 東 京 𠮷 the of tied'), [...beginnings, ...pairs].sort());
  assert.deepEqual(tokens('international a b international'), [
    ...['a', 'a¦b', 'b', 'b¦in', 'i', 'in', 'int', 'inte', 'inter', 'intern', 'interna', 'internat'],
    ...['international', 'international¦a'],
  ]);
});

test('tokens of any words are those that a plain reading finds, whatever was read before', () => {
  const word = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'é', '東', '𠮷', '𠮸'), minLength: 1, maxLength: 12 }),
    fc.constantFrom('a', 'ab', 'abcdefgh', 'abcdefghi'),
  );
  const plain = (list: string[]): string[] => {
    const found = new Set<string>();
    for (const [at, word] of list.entries()) {
      for (let end = 1; end <= 8 && end <= word.length; end++)
        if (word.slice(0, end).isWellFormed()) found.add(word.slice(0, end));
      if (word.length > 8) found.add(word);
      const next = list[at + 1];
      if (next !== undefined) found.add(`${word}¦${[...next].slice(0, 2).join('')}`);
    }
    return [...found].sort();
  };
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (list) => {
      assert.deepEqual(wordTokens(list.join(' ')).split(' ').sort(), plain(list));
    }),
    { numRuns: 500 },
  );
  const many = Array.from({ length: 30_000 }, (_, n) => `${n.toString(36)}東`);
  assert.deepEqual(wordTokens(many.join(' ')).split(' ').sort(), plain(many));
});

test('a text’s filter has the pairs of every phrase that is in it, and few others', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '東', '𠮷'), minLength: 1, maxLength: 5 });
  const isIn = (filter: Uint8Array, phrase: string[]) =>
    pairsOf(phrase).every(({ byte, bit }) => (((filter[byte % filter.length] ?? 0) >> bit) & 1) === 1);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 2, maxLength: 30 }),
      fc.nat(),
      fc.nat(),
      fc.nat(),
      (list, at, more, cut) => {
        const start = at % (list.length - 1);
        const phrase = list.slice(start, start + 2 + (more % (list.length - start - 1)));
        const last = [...(phrase.pop() ?? '')];
        phrase.push(last.slice(0, 1 + (cut % last.length)).join(''));
        for (const text of [list.join(' '), ` ${list.join(' ')}`])
          assert.ok(isIn(pairFilter(text), phrase), phrase.join());
      },
    ),
    { numRuns: 500 },
  );
  const filter = pairFilter(Array.from({ length: 1_000 }, (_, n) => `w${(n * 7_919) % 1_000}`).join(' '));
  const others = Array.from({ length: 1_000 }, (_, n) => isIn(filter, [`w${n}`, `x${n}00`])).filter(Boolean).length;
  assert.ok(filter.length === 1_024 && others < 300, `${others} of 1,000 other pairs are in the filter`);
});

test('a query asks for the fewest tokens, the longest first, and for its phrases', () => {
  const asked: [string[], string[], string[]][] = [
    [['tide', 'TIDE', 'ti', 'ebb'], ['"tide"', '"ebb"'], []],
    [
      ['e-mail', '東京'],
      ['"e¦ma"', '"mail"', '"東¦京"', '"京"'],
      [' e mail', ' 東 京'],
    ],
    [
      ['it’s', 'u.s.a'],
      ['"it¦s"*', '"u¦s"', '"s¦a"*', '"a"'],
      [' it s', ' u s a'],
    ],
    [['internatio', 'internationally', 'inter'], ['"internationally"*'], []],
    [
      ['well-known-internationally'],
      ['"internationally"*', '"known¦in"', '"well¦kn"'],
      [' well known internationally'],
    ],
    [['characters-x'], ['"characters¦x"*', '"x"'], [' characters x']],
  ];
  for (const [terms, tokens, phrases] of asked) {
    const { pairs: _pairs, ...query } = indexQuery('a-b', terms);
    assert.deepEqual(query, { match: [...tokens, '"¶a¶b"'].join(' AND '), phrases }, terms.join());
  }
});

test('whatever a term holds, the query is quoted tokens joined by AND, and tokens of every text that it matches', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), (q) => {
      let terms: string[];
      try {
        terms = searchTerms(q);
      } catch {
        return;
      }
      const { match } = indexQuery('p', terms);
      assert.match(match, /^(?:"[\p{L}\p{M}\p{N}¦]+"\*? AND )*"¶p"$/u);
      const { tokens } = indexText('p', { headline: terms.join(' '), dek: 'd', prose: 'p' });
      for (const [, token, star] of match.matchAll(/"([^"]+)"(\*?)/g))
        assert.ok(` ${tokens} `.includes(` ${token}${star === '*' ? '' : ' '}`), token);
    }),
    { numRuns: 2_000 },
  );
});

test('the index holds the words of any prose, and of a heap of different ones those that come first', () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `w${n.toString(36)}`);
  const held = (prose: string) => new Set(indexText('p', { headline: 'h', dek: 'd', prose }).words.split(' '));
  const found = held(`${words.join(' ')} ${words[0]} last`);
  assert.ok(found.has('w0') && found.has(words[14_999] ?? ''));
  assert.ok(!found.has(words[15_000] ?? '') && !found.has('last'));
  // However long a prose is, what it repeats is held where it stands.
  const long = `${words.slice(0, 10_000).join(' ')} ${'tide '.repeat(20_000)}last`;
  assert.ok(held(long).has('last'));
  assert.ok(indexText('p', { headline: 'h', dek: 'd', prose: long }).words.endsWith('tide tide last'));
});

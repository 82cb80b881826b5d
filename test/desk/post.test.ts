import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../../src/desk/archive.ts';
import { postRow } from '../../src/desk/papers/post.ts';
import * as fc from '../support/properties.ts';

const LINKS = {
  showsReview: false,
  republishes: false,
  root: 'https://news.example',
  avatar: () => 'https://news.example/a.svg',
  image: () => 'https://news.example/a.svg',
  raster: () => 'https://news.example/a.png',
};
const LINK = 'https://news.example/stories/a-piece/';
const graphemes = (text: string): string[] =>
  Array.from(new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);

function post(headline: string, dek: string) {
  const row = { id: '01jd', slug: 'a-piece', headline, dek, published_at: Date.parse('2026-11-20T06:30:00Z') } as Row;
  return postRow(row, LINKS);
}

test('a post is headline, dek and link, as far as they fit into 300 graphemes', () => {
  assert.deepEqual(post('A headline', 'A dek.'), {
    id: '01jd',
    headline: 'A headline',
    dek: 'A dek.',
    link: LINK,
    image: 'https://news.example/a.png',
    text: `A headline\n\nA dek.\n\n${LINK}`,
    published_at: '2026-11-20T06:30:00.000Z',
  });
  const room = 300 - graphemes(`A\n\n\n\n${LINK}`).length;
  assert.equal(post('A', 'd'.repeat(room)).dek?.length, room, 'a dek that just fits');
  const long = post('A', 'd'.repeat(room + 1));
  assert.equal('dek' in long, false, 'a dek that does not fit is absent');
  assert.equal(long.text, `A\n\n${LINK}`);
  assert.equal('dek' in post('A', ''), false, 'no dek is no dek');
});

test('a headline that is too long is cut at a word, and an ellipsis says so', () => {
  const { text, headline } = post('word '.repeat(80).trim(), '');
  assert.equal(headline.length, 399, 'the headline itself stays whole');
  assert.match(text, /^(?:word )+word…\n\nhttps:/);
  const family = '👨‍👩‍👧‍👦';
  assert.match(post(family.repeat(290), '').text, new RegExp(`^(?:${family})+…\n\n`), 'no grapheme is torn');
});

test('any post holds its link and no more than 300 graphemes', () => {
  const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });
  fc.assert(
    fc.property(words, words, (headline, dek) => {
      const made = post(headline, dek);
      assert.ok(graphemes(made.text).length <= 300);
      assert.ok(made.text.endsWith(`\n\n${LINK}`));
      assert.deepEqual(made, post(headline, dek));
      assert.equal(made.dek !== undefined, made.text === `${headline}\n\n${dek}\n\n${LINK}`);
    }),
  );
});

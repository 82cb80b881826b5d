import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CARD_WIDTH_MAX,
  CARD_WIDTH_MIN,
  type CardContent,
  cardHeight,
  cardSize,
  embedTarget,
  playerSize,
} from '../../src/desk/oembed.ts';
import * as fc from '../support/properties.ts';

const ROOTS = ['https://tide.example', 'http://stand.example:4321/tide-table'];

describe('the story that an address names', () => {
  for (const address of [
    'https://tide.example/stories/high-water/',
    'https://tide.example/stories/high-water',
    'https://tide.example/stories/high-water.md',
    'https://tide.example/stories/high-water/?utm_source=a&b=%FF#sources',
    'HTTPS://TIDE.EXAMPLE:443/stories/high-water/',
    'https://tide.example/sections/../stories/high-water/',
    'http://stand.example:4321/tide-table/stories/high-water/',
  ]) {
    it(`is found in ${address}`, () => assert.deepEqual(embedTarget(address, ROOTS), { story: 'high-water' }));
  }
  for (const address of [
    'https://tide.example/cast/2026-11-19/',
    'https://tide.example/cast/2026-11-19?a=b#c',
    'http://stand.example:4321/tide-table/cast/2026-11-19/',
  ]) {
    it(`is a video edition in ${address}`, () => assert.deepEqual(embedTarget(address, ROOTS), { cast: '2026-11-19' }));
  }
  for (const address of [
    '',
    'https://tide.example/cast/',
    'https://tide.example/cast/2026-11-19/embed/',
    'https://tide.example/cast/today/',
    'https://tide.example/media/cast/2026-11-19/',
    'high-water',
    '/stories/high-water/',
    '//tide.example/stories/high-water/',
    'javascript:alert(1)',
    'http://tide.example/stories/high-water/',
    'https://tide.example:8443/stories/high-water/',
    'https://tide.example.evil.example/stories/high-water/',
    'https://user@tide.example/stories/high-water/',
    'https://tide.example/',
    'https://tide.example/sections/tides/',
    'https://tide.example/embed/high-water/',
    'https://tide.example/stories/high-water/proof.json',
    'https://tide.example/stories/high-water//',
    'https://tide.example/stories/High-Water/',
    'https://tide.example/tide-table/stories/high-water/',
    'http://stand.example:4321/tide-tables/stories/high-water/',
    'http://stand.example:4321/other/stories/high-water/',
    'http://stand.example:4321/stories/high-water/',
  ]) {
    it(`finds nothing in ${JSON.stringify(address)}`, () => assert.equal(embedTarget(address, ROOTS), null));
  }

  it('finds nothing in any text that does not begin with a root', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.webUrl({ withQueryParameters: true })),
        (text) => {
          assert.equal(embedTarget(text, ROOTS), null);
        },
      ),
    );
  });
});

describe('the size of the player', () => {
  it('keeps to both bounds and to the video’s shape', () => {
    const wide = { width: 1280, height: 720 };
    assert.deepEqual(playerSize(640, Infinity, wide), { width: 640, height: 390 });
    assert.deepEqual(playerSize(320, Infinity, wide), { width: 320, height: 210 });
    assert.deepEqual(playerSize(640, 210, wide), { width: 320, height: 210 });
    assert.deepEqual(playerSize(640, 20, wide), { width: 220, height: 20 });
    assert.deepEqual(playerSize(640, 600, { width: 720, height: 1280 }), { width: 320, height: 599 });
  });
});

describe('the size of the card', () => {
  const matter: fc.Arbitrary<CardContent> = fc.record({
    headline: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
    dek: fc.string({ unit: 'grapheme', maxLength: 300 }),
    byline: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
    nameplate: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
  });
  const width = fc.integer({ min: CARD_WIDTH_MIN, max: CARD_WIDTH_MAX });

  it('keeps to both bounds, and is the card’s own where they are wide enough', () => {
    fc.assert(
      fc.property(matter, width, fc.integer({ min: 1, max: 2_000 }), (card, maxWidth, maxHeight) => {
        const size = cardSize(maxWidth, maxHeight, card);
        assert.ok(size.width >= CARD_WIDTH_MIN && size.width <= maxWidth, `width ${size.width}`);
        assert.ok(size.height >= 1 && size.height <= maxHeight, `height ${size.height}`);
        const tall = cardHeight(maxWidth, card);
        if (tall <= maxHeight) assert.deepEqual(size, { width: maxWidth, height: tall });
      }),
    );
  });

  it('grows with the content of the card', () => {
    fc.assert(
      fc.property(matter, width, (card, at) => {
        const height = cardHeight(at, card);
        assert.ok(cardHeight(at, { ...card, headline: card.headline.repeat(3) }) >= height);
        assert.ok(cardHeight(at, card, false) < height);
      }),
    );
  });

  it('is narrower for a low frame while the picture can stay, and then without it', () => {
    const card = {
      headline: 'The tide turned',
      dek: '',
      byline: 'Vera Holm',
      nameplate: 'The Tide Table',
    };
    const low = cardSize(640, 400, card);
    assert.ok(low.width < 640 && low.height > 380, JSON.stringify(low));
    // Below 240 the card hides its picture (layouts/embed.css).
    const lower = cardSize(640, 239, card);
    assert.deepEqual(lower, { width: 640, height: cardHeight(640, card, false) });
    assert.deepEqual(cardSize(640, 20, card), { width: 640, height: 20 });
  });
});

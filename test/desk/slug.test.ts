import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLUG } from '../../src/desk/door/door.ts';
import { MAX } from '../../src/desk/door/piece.ts';
import { sectionSlug } from '../../src/desk/papers/paper.ts';
import { freeSlug } from '../../src/desk/papers/slug.ts';
import * as fc from '../support/properties.ts';

test('a slug is the headline in Latin letters, and the next free one', () => {
  const free = (headline: string, ...taken: string[]) => freeSlug(headline, (slug) => taken.includes(slug));
  assert.equal(free('The Élysée’s 2nd “yes”, at last!'), 'the-elysees-2nd-yes-at-last');
  assert.equal(free('Again', 'again', 'again-2'), 'again-3');
  assert.equal(free('Große Øre, Łódź'), 'grosse-ore-lodz');
  assert.equal(free('東京の時計'), 'dongjingnoshiji');
  assert.equal(free('¿…?'), 'piece');
  assert.equal(free('Часы', 'chasy'), 'chasy-2');
});

test('a section’s address is made of the same words', () => {
  for (const [name, slug] of [
    ['Straße & Schiene', 'strasse-schiene'],
    ['Editor’s Desk', 'editors-desk'],
    ['C++', 'c'],
  ] as const)
    assert.equal(sectionSlug(name), slug);
  assert.match(sectionSlug('東京'), /^section-[0-9a-f]{8}$/);
});

test('any headline gives a slug that the door accepts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(3), (headline, taken) => {
      let asked = 0;
      const slug = freeSlug(headline, () => asked++ < taken);
      assert.match(slug, SLUG);
      assert.ok(slug.length <= MAX.slug);
    }),
  );
});

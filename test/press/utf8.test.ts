import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '../../src/press/utf8.ts';
import * as properties from '../support/properties.ts';

test('a text is encoded as Buffer.from does, halves of surrogate pairs and long texts included', () => {
  const text = properties.string({ unit: 'binary' });
  const half = properties.constantFrom('', '\ud800', 'a\udc00', '\ud83d\ude00');
  const check = (whole: string) =>
    assert.ok(Buffer.from(whole).equals(utf8(whole)), JSON.stringify(whole).slice(0, 99));
  properties.assert(properties.property(text, half, (one, broken) => check(one + broken + one)));
  for (const length of [131_071, 131_072, 131_073]) check('“'.repeat(length));
});

test('encoding a text leaves the one before as it was', () => {
  const first = utf8('“first”');
  utf8('“other”');
  assert.equal(Buffer.from(first).toString(), '“first”');
});

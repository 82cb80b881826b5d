import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { isKey, KeyBody, LEVELS, newKey, reaches } from '../../src/desk/papers/keys.ts';
import { secretHash } from '../../src/shared/access-key.ts';
import * as fc from '../support/properties.ts';

test('a key has a checksum, so that a typo is distinguished from an unknown key', () => {
  fc.assert(
    fc.property(fc.nat(42), fc.constantFrom(...'0aZ9zA_ '), (at, letter) => {
      const key = newKey(randomBytes);
      assert.match(key, /^nrf_[0-9A-Za-z]{43}$/);
      assert(isKey(key));
      const typo = key.slice(0, at + 4) + letter + key.slice(at + 5);
      assert.equal(isKey(typo), typo === key);
    }),
  );
  const key = newKey(randomBytes);
  for (const text of ['', 'nrf_', key.slice(1), `${key}0`, ` ${key}`, key.toUpperCase(), key.replace('nrf_', 'drs_')])
    assert.equal(isKey(text), false, text);
});

test('the characters of keys are uniformly distributed', () => {
  // Bytes from 248 would make some characters likelier: they are left out.
  const bytes = [...Array(256).keys()];
  const key = newKey((n) => Uint8Array.from({ length: n }, () => bytes.pop() ?? 0));
  assert.equal(key.slice(4, 8), 'zyxw');
});

test('a key is stored as the hex of its SHA-256, and there are three levels', () => {
  assert.equal(secretHash('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  for (const level of LEVELS) assert.equal(KeyBody.safeParse({ level, name: 'n' }).success, true);
  assert.equal(KeyBody.safeParse({ level: 'root', name: 'n' }).success, false);
  assert.deepEqual(
    LEVELS.map((level) => LEVELS.filter((asked) => reaches(level, asked))),
    [['read'], ['read', 'agent'], ['read', 'agent', 'admin']],
  );
});

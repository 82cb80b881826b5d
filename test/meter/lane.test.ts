import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCESSES, type Access, type Carried, laneOf } from '../../src/records/meter/lane.ts';

const KEYS: Carried['key'][] = ['none', 'bad', 'account', 'service', 'scanner', 'operator'];

/**
 * Every combination: for each kind of door, what each kind of key comes to,
 * without a payment and with one. A refusal is in capitals.
 */
const TABLE: Record<Access, string> = {
  //          none                          bad  account        service             scanner    operator
  public: '   public public                 BAD  public         public              public     public',
  lookup: '   keyless paid                  BAD  keyed          unmetered           LEVEL      unmetered',
  read: '     menu paid                     BAD  keyed          unmetered           LEVEL      unmetered',
  export: '   REQUIRED EXPORT               BAD  keyed          unmetered           LEVEL      unmetered',
  usage: '    REQUIRED REQUIRED             BAD  unmetered      LEVEL               LEVEL      LEVEL',
  queue: '    REQUIRED REQUIRED             BAD  LEVEL          LEVEL               operator   operator',
  operator: ' REQUIRED REQUIRED             BAD  LEVEL          LEVEL               LEVEL      operator',
};

const REFUSALS: Record<string, string> = {
  BAD: 'key_invalid',
  REQUIRED: 'key_required',
  LEVEL: 'level_too_low',
  EXPORT: 'export_needs_account',
};

test('every combination of route, key and payment has one lane', () => {
  let combinations = 0;
  for (const access of ACCESSES) {
    const [unpaid, paid, ...others] = TABLE[access].trim().split(/\s+/);
    for (const key of KEYS) {
      for (const payment of [false, true]) {
        // A payment beside a key, good or bad, changes nothing.
        const word = key === 'none' ? (payment ? paid : unpaid) : others[KEYS.indexOf(key) - 1];
        const refusal = REFUSALS[word ?? ''];
        const expected = refusal === undefined ? { lane: word } : { refused: refusal };
        assert.deepEqual(
          laneOf({ key, payment }, access),
          expected,
          `${access}, ${key} key, ${payment ? 'paid' : 'unpaid'}`,
        );
        combinations++;
      }
    }
  }
  assert.equal(combinations, 7 * 6 * 2);
});

test('asking to pay opens the menu of a lookup, and changes nothing else', () => {
  for (const access of ACCESSES) {
    for (const key of KEYS) {
      for (const payment of [false, true]) {
        const isMenu = access === 'lookup' && key === 'none' && !payment;
        const expected = isMenu ? { lane: 'menu' } : laneOf({ key, payment }, access);
        assert.deepEqual(laneOf({ key, payment, asksToPay: true }, access), expected, `${access}, ${key} key`);
      }
    }
  }
});

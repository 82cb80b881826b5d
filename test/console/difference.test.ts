import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Segment, textDifference } from '../../src/desk/console/difference.ts';
import { assertLinear } from '../complexity/growth.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** A difference in one line: `-removed-` and `+added+`. */
const shown = (segments: Segment[]): string =>
  segments.map(({ text, kind }) => ({ same: text, added: `+${text}+`, removed: `-${text}-` })[kind]).join('');
const difference = (before: string, after: string): string => shown(textDifference(before, after));

describe('the difference of two texts', () => {
  it('names the words that changed', () => {
    assert.equal(
      difference('The ferry sails at nine.\nIt is blue.', 'The ferry sails at ten.\nIt is blue.'),
      'The ferry sails at -nine-+ten+.\nIt is blue.',
    );
    assert.equal(difference('Three ships', 'Three small ships'), 'Three +small +ships');
    assert.equal(difference('', 'A'), '+A+');
    assert.equal(difference('A', ''), '-A-');
    assert.deepEqual(textDifference('', ''), []);
    assert.deepEqual(textDifference('A\n', 'A\n'), [{ text: 'A\n', kind: 'same' }]);
  });

  it('shows a phrase that was replaced as one, and not word by word', () => {
    assert.equal(
      difference('The harbour master said so on the quay.', 'The port’s new director said so on the quay.'),
      'The -harbour master-+port’s new director+ said so on the quay.',
    );
  });

  it('shows lines that share little as whole lines', () => {
    assert.equal(
      difference('Ferries are late.\n', 'Nobody knows why.\n'),
      '-Ferries are late.\n-+Nobody knows why.\n+',
    );
  });

  it('finds a paragraph between two that stayed', () => {
    assert.equal(difference('One.\n\nThree.', 'One.\n\nTwo.\n\nThree.'), 'One.\n\n+Two.\n\n+Three.');
  });

  it('compares scripts without spaces by character', () => {
    assert.equal(difference('渡轮九点开船', '渡轮十点开船'), '渡轮-九-+十+点开船');
  });

  it('splits neither a letter from its marks nor a surrogate pair', () => {
    assert.equal(difference('x 👩‍🚀 e\u0301 y', 'x 👩‍🚀 e\u0300 y'), 'x 👩‍🚀 -e\u0301-+e\u0300+ y');
    for (const { text } of textDifference('a 😀 b', 'a 😁 b')) assert.ok(text.isWellFormed(), text);
  });

  it('gives both texts back', () => {
    const word = fc.constantFrom('a', 'b', 'the', ' ', ' ', '\n', '\n\n', '.', '渡', '[^1]', '\r', '\u0301');
    const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const segments = textDifference(before, after);
        const without = (kind: Segment['kind']) =>
          segments.flatMap((segment) => (segment.kind === kind ? [] : segment.text)).join('');
        assert.equal(without('added'), before);
        assert.equal(without('removed'), after);
        segments.forEach(({ kind, text }, index) => {
          assert.notEqual(text, '');
          assert.notEqual(kind, segments[index + 1]?.kind);
          assert.ok(kind !== 'added' || segments[index + 1]?.kind !== 'removed');
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes bounded time for texts that share nothing, and for texts that repeat', { skip: ONLY_WIDE }, async () => {
    const shapes: [string, string][] = [
      ['a\n', 'b\n'],
      ['a b ', 'b a a '],
      ['a ', 'a\n'],
      ['a b c d\n', 'a c b d\n'],
      ['x', '['],
    ];
    // Below the first length a comparison may take as many steps as it needs, which grow faster than the text.
    const range = { longest: 400_000, shortest: 50_000 };
    for (const [before, after] of shapes) {
      await assertLinear(
        `${JSON.stringify(before)} against ${JSON.stringify(after)}`,
        (length) => [before, after].map((text) => text.repeat(length / text.length)),
        ([one = '', other = '']: string[]) => textDifference(one, other),
        range,
      );
    }
    const noise = (seed: number) => (length: number) => {
      let state = seed;
      const random = () => {
        state = (state * 48_271) % 2_147_483_647;
        return state % 50;
      };
      return Array.from({ length: length / 3 }, () => `${random()}${random() < 5 ? '\n' : ' '}`).join('');
    };
    const pair = (length: number) => [noise(1)(length), noise(2)(length)];
    await assertLinear('noise', pair, ([one = '', other = '']: string[]) => textDifference(one, other), range);
  });
});

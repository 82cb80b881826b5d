import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayNeeds } from '../../src/writing/day-needs.ts';
import type { DeskPaper } from '../../src/writing/desk.ts';
import { pieceLine } from '../../src/writing/outlook.ts';
import type { DeskPiece } from '../../src/writing/piece.ts';

const NOW = Date.parse('2026-11-20T00:00:00Z');

function piece(slug: string, category: string, air: number | boolean, savedAt = NOW): DeskPiece {
  const files = [{ path: slug, file: slug, stamp: '', savedAt }];
  const filings = [{ category, headline: slug }] as DeskPiece['filings'];
  return { slug, files, filings, air, placement: null, problems: [], digests: new Map() };
}

function texts(pieces: DeskPiece[], sections = ['Tides', 'Lights']): string[] {
  const paper: DeskPaper = {
    slug: 'quay',
    folder: '',
    problems: [],
    pieces: new Map(pieces.map((one) => [one.slug, one])),
  };
  const open = pieces.map((one) => pieceLine('quay', one, null, NOW));
  return dayNeeds(paper, { sections, open, now: NOW }).map(({ text }) => text);
}

test('a day needs pieces, and each section one a week', () => {
  const day = 86_400_000;
  assert.deepEqual(texts([]), [
    'Nothing is dated today yet.',
    'Without a piece for 7 days: Tides, Lights.',
    'A new piece:',
  ]);
  assert.deepEqual(
    texts([
      piece('first-minute', 'Tides', NOW),
      piece('last-minute', 'tides', NOW + day - 1),
      piece('tomorrow', 'Tides', NOW + day),
      piece('a-week-ago', 'Lights', NOW - 7 * day),
      piece('old-draft', 'Lights', false, NOW - 4 * day),
    ]),
    [
      '2 pieces are dated today.',
      'Next on air: 2026-11-20 23:59 UTC',
      'Without a piece for 7 days: Lights.',
      'Has lain for more than 3 days: old-draft',
      'A new piece:',
    ],
  );
  // Without a time in its file a piece is of when that was saved.
  assert.equal(texts([piece('now', 'Lights', true)], ['Lights'])[0], '1 piece is dated today.');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StateName } from '../../src/desk/archive.ts';
import { type View, withdrawnAnswer } from '../../src/desk/withdrawal.ts';

const VIEWS: View[] = ['record', 'page', 'proof', 'preview'];

/** What each view of a piece answers, in the order of `VIEWS`. */
const answers = (state: StateName, published_at: number, headline_withheld = false) =>
  VIEWS.map((view) => withdrawnAnswer({ state, published_at, headline_withheld }, view));

test('a piece that is on air, or never was, answers everything', () => {
  for (const [state, published] of [
    ['on_air', 1],
    ['draft', 0],
    ['scheduled', 0],
  ] as const)
    assert.deepEqual(answers(state, published), [null, null, null, null], state);
});

test('a withdrawn piece answers with its fault or its notice; what was filed stays proved', () => {
  assert.deepEqual(answers('withdrawn', 1), ['fault', 'notice', null, 'fault']);
});

test('a piece that is scheduled again keeps its notice, and may be previewed', () => {
  assert.deepEqual(answers('scheduled', 1), ['fault', 'notice', null, null]);
});

test('where the headline is withheld, neither the proof nor a preview shows it', () => {
  assert.deepEqual(answers('withdrawn', 1, true), ['fault', 'notice', 'fault', 'fault']);
  assert.deepEqual(answers('scheduled', 1, true), ['fault', 'notice', 'fault', 'fault']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDay } from '../../src/desk/day.ts';
import type { Paper } from '../../src/desk/paper.ts';
import { urlProblems } from '../../src/desk/record.ts';

const ORIGIN = 'https://host.example';
const others = [{ slug: 'b', url: 'https://b.example/news' } as Paper, { slug: 'c' } as Paper];

test('a paper takes no address that is another’s', () => {
  const taken = (url: string | undefined) => urlProblems('a', url, others, ORIGIN).map(({ rule }) => rule);
  for (const url of [
    undefined,
    'https://a.example',
    `${ORIGIN}/a`,
    'https://b.example/other',
    'https://b.example/newsroom',
  ])
    assert.deepEqual(taken(url), [], url);
  for (const url of [
    ORIGIN,
    `${ORIGIN}/c`,
    `${ORIGIN}/a/b`,
    'https://b.example',
    'https://b.example/news',
    'https://b.example/news/x',
  ])
    assert.deepEqual(taken(url), ['address_taken'], url);
});

test('a day is one of the calendar', () => {
  for (const day of ['2026-11-20', '2024-02-29', '0001-01-01']) assert.equal(isDay(day), true, day);
  for (const day of ['2026-02-29', '2026-11-31', '2026-13-01', '2026-1-1', '20261120', '', '2026-11-20T00:00:00Z'])
    assert.equal(isDay(day), false, day);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { line } from '../../src/desk/line.ts';
import { shapeProblems } from '../../src/shared/shape.ts';

test('each problem names the member, the value and what it must be', () => {
  const Body = z.strictObject({
    text: z.string().min(2).max(3),
    one: z.string().min(1),
    list: z.array(z.int()),
    few: z.array(z.string()).max(1),
    share: z.number().gt(0).lt(1),
    kind: z.enum(['news', 'blog']),
    cadence: z.enum(['instant', 'daily', 'weekly']),
    at: z.union([z.boolean(), z.iso.datetime()]),
    mail: z.email(),
    url: z.url(),
    own: z.string().regex(/^a/, 'must begin with a'),
    missing: z.string(),
  });
  const given = {
    text: 'x'.repeat(100),
    one: '',
    list: [1, 2.5, 3],
    few: ['a', 'b'],
    share: 1,
    kind: 'opinion',
    cadence: null,
    at: 7,
    mail: 'x',
    url: 'x',
    own: 'b',
    more: 1,
  };
  const { error } = Body.safeParse(given);
  assert.ok(error);
  assert.deepEqual(
    shapeProblems(error, given)
      .map(({ field, message }) => `${field}: ${message}`)
      .sort(),
    [
      'at: 7: must be true or false, or a text',
      'cadence: null: must be one of "instant", "daily", "weekly"',
      'kind: "opinion": must be "news" or "blog"',
      'few: ["a","b"]: must have at most 1 element',
      'list[1]: 2.5: must be a whole number',
      'mail: "x": must be a mail address such as name@example.org',
      'missing: this field is missing; add it',
      'more: there is no field of this name; take it out or correct its spelling',
      'one: "": must have at least 1 character',
      'own: "b": must begin with a',
      'share: 1: must be less than 1',
      `text: "${'x'.repeat(79)}…: must have at most 3 characters`,
      'url: "x": must be an address such as https://example.org/',
    ].sort(),
  );
});

test('a number beyond all numbers is not said to be null', () => {
  const given = JSON.parse('{"id":-1e400}') as unknown;
  const { error } = z.object({ id: z.int() }).safeParse(given);
  assert.ok(error);
  assert.match(shapeProblems(error, given)[0]?.message ?? '', /^a number that is too large to be held: must be /);
});

test('a line that is too long is told its limit, and a value turns no message round', () => {
  const shape = z.object({ title: line(5) });
  const given = { title: '\u202elive<b>' };
  const { error } = shape.safeParse(given);
  assert.ok(error);
  assert.deepEqual(
    shapeProblems(error, given).map(({ message }) => message),
    ['"\\u202elive<b>": must have at most 5 characters'],
  );
  assert.deepEqual(shape.safeParse({ title: 7 }).error?.issues[0]?.message, 'must be a text');
});

test('a value that is nested too deep to be written is a problem like any other', () => {
  const given = JSON.parse(`{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as unknown;
  const { error } = z.object({ id: z.string() }).safeParse(given);
  assert.ok(error);
  assert.deepEqual(shapeProblems(error, given), [
    { field: 'id', rule: 'wrong_type', message: 'a value that is nested too deep to be shown: must be a text' },
  ]);
});

test('a member’s name is not said again at any length', () => {
  const given = { ['x'.repeat(900_000)]: 1 };
  const { error } = z.strictObject({}).safeParse(given);
  assert.ok(error);
  assert.deepEqual(
    shapeProblems(error, given).map(({ field }) => field),
    [`${'x'.repeat(80)}…`],
  );
});

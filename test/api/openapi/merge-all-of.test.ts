import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultsInWords, mergeAllOf } from '../../../api/openapi/for-generators.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };

test('an allOf becomes one object with the members of all its parts, however deep', () => {
  const base = {
    type: 'object',
    properties: { a: text, b: text },
    required: ['a'],
    additionalProperties: {},
    example: { a: 'x' },
  };
  const extended = {
    allOf: [{ $ref: '#/schemas/Base' }, { type: 'object', properties: { b: whole, c: text }, required: ['c', 'a'] }],
  };
  const document = {
    schemas: {
      Base: base,
      Extended: { ...extended, description: 'More.' },
      Again: {
        allOf: [{ $ref: '#/schemas/Extended' }, { type: ['object', 'null'], properties: { d: { items: extended } } }],
      },
    },
  };
  const given = structuredClone(document);
  const { schemas } = mergeAllOf(document) as { schemas: Record<string, unknown> };
  const merged = {
    type: 'object',
    properties: { a: text, b: whole, c: text },
    required: ['a', 'c'],
    additionalProperties: {},
  };
  assert.deepEqual(schemas.Base, base, 'what has none stays as it is');
  assert.deepEqual(schemas.Extended, { ...merged, description: 'More.' });
  assert.deepEqual(schemas.Again, {
    ...merged,
    description: 'More.',
    type: ['object', 'null'],
    properties: { ...merged.properties, d: { items: merged } },
  });
  assert.deepEqual(document, given, 'the document that was given is not changed');
});

test('an allOf of a non-object is rejected as a defect of the document', () => {
  assert.throws(() => mergeAllOf({ allOf: [text, { type: 'object' }] }), /a part of type string/);
});

test('the default of a member is said in words, and that of a parameter stays', () => {
  const member = { type: 'boolean', default: false };
  const document = {
    parameters: [{ name: 'limit', schema: { type: 'integer', default: 50 } }],
    schema: {
      properties: { air: { ...member, description: 'On air.' }, motto: { ...text, default: '' }, default: member },
    },
  };
  assert.deepEqual(defaultsInWords(document), {
    parameters: document.parameters,
    schema: {
      properties: {
        air: { type: 'boolean', description: 'On air. Default: false.' },
        motto: { type: 'string', description: 'Empty by default.' },
        default: { type: 'boolean', description: 'Default: false.' },
      },
    },
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultsInWords } from '../../../api/openapi/for-generators.ts';

const text = { type: 'string' };

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

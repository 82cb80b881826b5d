import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, compiled } from '../support/token/compile.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('the contracts of the tests’ chain are those of their sources', { skip: ONLY_WIDE }, async () => {
  assert.deepEqual(compiled(), await compile(), 'run `node test/support/token/compile.ts`');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, compiled } from '../support/token/compile.ts';

test('the contracts of the tests’ chain are those of their sources', async () => {
  assert.deepEqual(compiled(), await compile(), 'run `node test/support/token/compile.ts`');
});

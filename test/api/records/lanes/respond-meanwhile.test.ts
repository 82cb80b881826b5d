import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respondMeanwhile } from '../../../../api/records/lanes/respond-meanwhile.ts';

test('a response whose charge the disk refuses fails when its handler has ended', async () => {
  const handler = Promise.withResolvers<void>();
  let isRefused = false;
  const answer = respondMeanwhile(() => handler.promise, Promise.reject(new Error('the disk is full'))).catch(
    (error: Error) => {
      isRefused = true;
      return error.message;
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isRefused, false);
  handler.resolve();
  assert.equal(await answer, 'the disk is full');
});

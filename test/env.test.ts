import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../src/env.ts';

test('a setting of replicas stops the start, and its value is not shown', () => {
  for (const name of ['LIBSQL_SYNC_URL', 'LIBSQL_AUTH_TOKEN']) {
    assert.throws(
      () => readSettings({ [name]: 'http://127.0.0.1:8080/?token=tresor' }),
      (error: Error) =>
        error.message.startsWith(`${name}=…: replicas of a libSQL server are not supported; unset it`) &&
        !error.message.includes('tresor'),
    );
    // An empty variable counts as one that is not set.
    assert.doesNotThrow(() => readSettings({ [name]: '' }));
  }
});

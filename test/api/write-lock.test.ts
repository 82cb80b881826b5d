import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Hono } from 'hono';
import Database from 'libsql';
import type { DeskEnv } from '../../api/env.ts';
import { awaitWriteLock } from '../../api/middleware/standby.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('the first change during another process’s write waits like later ones', async (t) => {
  const folder = tempFolder(t);
  const { store } = appContextIn(t, folder, { now: Date.now() });
  const other = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => other.close());
  const unshare = store.database.lock.share({ held() {}, freed() {} });
  try {
    const router = new Hono<DeskEnv>();
    router.onError((error, c) => c.text(error.message, 503));
    router.use(awaitWriteLock({ store }));
    router.all('*', (c) => c.text(String(store.database.transact(() => 'written'))));
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 400);
    const answers = await Promise.all([1, 2].map(() => router.request('/', { method: 'POST' })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
  } finally {
    unshare();
  }
});

test('metrics report how long the lock is held, and how many writes timed out waiting for it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const {
    database: { lock },
  } = appContextIn(t, folder, { now: Date.now() }).store;
  const other = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => other.close());
  const unshare = lock.share({ held() {}, freed() {} });
  try {
    assert.deepEqual([lock.heldFor(), lock.timeouts], [0, 0]);
    other.exec('BEGIN IMMEDIATE');
    assert.ok(lock.isHeldNow());
    await assert.rejects(lock.free(20), { code: 'unavailable' });
    assert.ok(lock.heldFor() >= 20);
    const free = lock.free();
    other.exec('COMMIT');
    await free;
    assert.deepEqual([lock.heldFor(), lock.timeouts], [0, 1]);
  } finally {
    unshare();
  }
});

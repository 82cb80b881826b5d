import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { HOST_ROUTES, PAPER_ROUTES, routingPath } from '../../api/desk/routes.ts';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { PressQueue } from '../../src/app/press-queue.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

test('the map of the news desk has every route that is registered, and no other', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const uses = new KeyUses(app.store.keys, assert.ifError);
  t.after(() => uses.close());
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  // Middleware takes all methods; OPTIONS is answered by rules of its own.
  const registered = router.routes.filter(({ method }) => method !== 'ALL' && method !== 'OPTIONS');
  const mapped = [
    ...PAPER_ROUTES.map(([method, path]) => `${method} /:paper${routingPath(path)}`),
    ...HOST_ROUTES.map(([method, path]) => `${method} ${routingPath(path)}`),
  ];
  assert.deepEqual(
    [...new Set(registered.map(({ method, path }) => `${method} ${path}`))].toSorted(),
    [...new Set(mapped)].toSorted(),
  );
});

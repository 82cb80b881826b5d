import assert from 'node:assert/strict';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import type { AppContext } from '../../src/server/context.ts';

/** The routes of the news desk as they are registered, in Hono's syntax: those of a paper begin with `/:paper`. */
export async function deskRoutes(app: AppContext): Promise<{ method: string; path: string }[]> {
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  try {
    const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
    // Middleware takes all methods; OPTIONS is answered by rules of its own.
    return router.routes.filter(({ method }) => method !== 'ALL' && method !== 'OPTIONS');
  } finally {
    uses.close();
  }
}

import type { Context, MiddlewareHandler } from 'hono';
import type { AppContext } from '../../src/server/context.ts';
import { Busy } from '../../src/shared/fault.ts';
import type { SignerRight } from '../../src/signing/signer.ts';
import type { DeskEnv } from '../env.ts';

const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** POST routes that change nothing. A call of an MCP tool is a request of its own, which is checked again. */
const READS = /^(?:\/v1\/bq\/query|(?:\/[^/]+)?\/(?:mcp|api\/v1\/preview))$/;

/** Whether a request may change something here. */
export function isChange({ req }: Context): boolean {
  return CHANGES.has(req.method) && !READS.test(req.path);
}

/** Throws `Busy` with this message where another server signs. */
export function assertSigns({ signer }: { signer: Pick<SignerRight, 'assertHeld'> }, message: string): void {
  try {
    signer.assertHeld();
  } catch {
    // The reason is only in the server's log: it names machines, and the caller is not authenticated yet.
    throw new Busy(message);
  }
}

const REFUSED = 'this server stands by for another one, and changes nothing; try again later';

/**
 * Refuses changes where another server signs, since they would be in this copy of the database alone. Checks again
 * before responding: a process that was suspended meanwhile must not acknowledge a write that came too late.
 */
export function refuseOnStandby(
  app: Pick<AppContext, 'settings'> & { signer: Pick<SignerRight, 'assertHeld'> },
): MiddlewareHandler<DeskEnv> {
  return async (c, next) => {
    if (app.settings.leaseUrl === null || !isChange(c)) return next();
    assertSigns(app, REFUSED);
    await next();
    if (c.res.ok) assertSigns(app, REFUSED);
  };
}

/** Delays changes while another process holds the write lock for long: most handlers cannot be restarted. */
export function awaitWriteLock({ store }: Pick<AppContext, 'store'>): MiddlewareHandler<DeskEnv> {
  return (c, next) => (isChange(c) && store.database.lock.isHeldNow() ? store.database.lock.free().then(next) : next());
}

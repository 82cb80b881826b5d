import type { HttpBindings } from '@hono/node-server';
import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import { HOUR } from '../../src/proof/time.ts';
import type { AppContext } from '../../src/server/context.ts';
import type { DeskEnv } from '../env.ts';
import { isTrusted, peerOf, proxyList } from './caller.ts';

/** The minimum interval between two warnings, in ms. */
const AGAIN = HOUR;
export const LOOPBACK = /^(?:127\.|::1$)/;
/** The headers in which proxies name the caller. */
const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const;

/** The header in which a proxy names the caller of a request. */
export function forwardedBy({ incoming }: Pick<HttpBindings, 'incoming'>): string | undefined {
  return HEADERS.find((name) => incoming.headers[name] !== undefined);
}

/**
 * Warns, in the log and in the output of `doctor`, when requests from this machine have a proxy's headers but no
 * setting names that proxy. Callers on this machine are exempt from limits, so behind such a proxy no limit by address
 * works, and all keyless callers count as one.
 */
export function recordForwarded(
  { store, settings, clock: { now } }: Pick<AppContext, 'store' | 'settings' | 'clock'>,
  service: 'desk' | 'records',
  logger: Logger,
) {
  const proxies = proxyList(settings.trustedProxies);
  let saidAt = Number.NEGATIVE_INFINITY;
  // Earlier records refer to the settings before this start.
  store.database.forwarded.forget(service);
  return createMiddleware<DeskEnv>((c, next) => {
    const header = forwardedBy(c.env);
    if (header === undefined || Math.abs(now() - saidAt) < AGAIN) return next();
    const address = peerOf(c.env);
    if (!LOOPBACK.test(address) || isTrusted(address, proxies)) return next();
    saidAt = now();
    logger.warn(
      { service, address, header },
      'requests come through a proxy on this machine that TRUSTED_PROXIES does not name: no limit by address holds for them, and all keyless callers share one slot; name it there',
    );
    store.database
      .groupCommit(() => store.database.forwarded.note({ service, address, at: now() }))
      .catch((error: unknown) => logger.warn({ err: error }, 'a proxy was not noted'));
    return next();
  });
}

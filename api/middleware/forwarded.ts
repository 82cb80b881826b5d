import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import type { AppContext } from '../../src/app/context.ts';
import { HOUR } from '../../src/time.ts';
import type { DeskEnv } from '../env.ts';
import { isTrusted, peerOf, proxyList } from './caller.ts';

/** How often it is said again, in ms. */
const AGAIN = HOUR;
const LOOPBACK = /^(?:127\.|::1$)/;
/** The headers in which a proxy names the caller. */
const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const;

/**
 * Warns, in the log and in what `doctor` reads, of requests that come from this
 * machine with a proxy's headers while no setting names the proxy. Callers on
 * this machine are not limited, so behind it no limit by address holds, and all
 * keyless callers are one.
 */
export function recordForwarded(
  { store, settings, now }: Pick<AppContext, 'store' | 'settings' | 'now'>,
  service: 'desk' | 'records',
  logger: Logger,
) {
  const proxies = proxyList(settings.trustedProxies);
  let saidAt = Number.NEGATIVE_INFINITY;
  // What was noted was of the settings before this start.
  store.forwarded.forget(service);
  return createMiddleware<DeskEnv>((c, next) => {
    const { headers } = c.env.incoming;
    const header = HEADERS.find((name) => headers[name] !== undefined);
    if (header === undefined || Math.abs(now() - saidAt) < AGAIN) return next();
    const address = peerOf(c.env);
    if (!LOOPBACK.test(address) || isTrusted(address, proxies)) return next();
    saidAt = now();
    logger.warn(
      { service, address, header },
      'requests come through a proxy on this machine that TRUSTED_PROXIES does not name: no limit by address holds for them, and all keyless callers share one slot; name it there',
    );
    store
      .groupCommit(() => store.forwarded.note({ service, address, at: now() }))
      .catch((error: unknown) => logger.warn({ err: error }, 'a proxy was not noted'));
    return next();
  });
}

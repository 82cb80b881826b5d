import { createMiddleware } from 'hono/factory';
import { isoTime } from '../../../src/proof/time.ts';
import { keylessHeaders } from '../../../src/records/meter/keyless.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { RecordsEnv } from '../../env.ts';
import { callerOf, proxyList } from '../../middleware/caller.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import { docsUrl, pageUrl, signInUrl } from './addresses.ts';
import { offerPayment } from './menu.ts';

/**
 * One request every 15 seconds per IPv4 address or IPv6 /64, and a daily limit for all callers together (protocol 9.3).
 * Beyond that limit a 200 says that the lane is closed. Throws `throttled`. Both carry the offer of the paid lane.
 */
export function keylessLane({ store, settings, clock: { now } }: AppContext) {
  const proxies = proxyList(settings.trustedProxies);
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const caller = callerOf(c.env, proxies);
    const ceiling = settings.keylessDaily;
    // Rejected callers never take the write lock.
    const seen = store.records.keyless.peek(caller, now(), ceiling);
    const entry =
      seen.pass === 'open'
        ? await store.database.groupCommit(() => store.records.keyless.admit(caller, now, ceiling))
        : seen;
    for (const [name, value] of Object.entries(keylessHeaders(entry))) setHeader(c, name, value);
    // These headers describe this caller.
    setHeader(c, 'Cache-Control', PRIVATE);
    if (entry.pass === 'closed') return c.json({ ...closed(settings, entry.until), ...offerPayment(c, settings) }, 200);
    if (entry.pass === 'throttled') {
      const seconds = Math.max(1, Math.ceil((entry.until - now()) / 1_000));
      setHeader(c, 'Retry-After', String(seconds));
      throw new Fault(
        'throttled',
        `without a key, one address may send one request every 15 seconds; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, sign in for a key, or read its public page`,
        {
          docs: docsUrl(settings),
          sign_in_url: signInUrl(settings),
          page: pageUrl(settings, c.req.param('domain') ?? ''),
          ...offerPayment(c, settings),
        },
      );
    }
    await next();
    return undefined;
  });
}

function closed(settings: AppContext['settings'], until: number) {
  return {
    sign_in: true,
    message:
      'today’s lookups without a key are used up, for everyone; sign in and make a key, which has its own allowance, or come back after the reset',
    sign_in_url: signInUrl(settings),
    docs: docsUrl(settings),
    resets_at: isoTime(until),
  };
}

import type { BlockList } from 'node:net';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../src/shared/fault.ts';
import type { Limit } from '../../src/shared/limits.ts';
import type { PaperEnv, RecordsEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';
import { callerOf } from './caller.ts';

/** Callers on this machine. */
export const LOOPBACK = /^(?:127\.|0:0:0:0::\/64$)/;

interface Sparing {
  /** Whether this machine is exempt: the operator's tools, and callers behind a proxy that no setting names. */
  sparesLocal?: boolean;
  /** Whether callers with a key are exempt, as the message then says. */
  sparesKeys?: boolean;
}

/** Limits requests per address. Throws `rate_limited`. */
export function throttle<E extends PaperEnv | RecordsEnv>(
  limit: Limit,
  proxies: BlockList,
  { sparesLocal = false, sparesKeys = false }: Sparing = {},
) {
  const limiter = new RateLimiterMemory(limit);
  return createMiddleware<E>((c: Context, next) => {
    if (sparesKeys && c.get('key') !== null) return next();
    const caller = callerOf(c.env, proxies);
    if (sparesLocal && LOOPBACK.test(caller)) return next();
    const refuse = (refusal: unknown) => {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      setHeader(c, 'Retry-After', String(seconds));
      throw new Fault(
        'rate_limited',
        `more than ${limit.points} requests in ${limit.duration} seconds came from your address; try again in ${seconds} seconds${sparesKeys ? ', or use a key' : ''}`,
      );
    };
    return limiter.consume(caller).then(next, refuse);
  });
}

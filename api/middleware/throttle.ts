import type { BlockList } from 'node:net';
import { createMiddleware } from 'hono/factory';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Fault } from '../../src/fault.ts';
import type { PaperEnv } from '../env.ts';
import { callerOf } from './caller.ts';

export interface Limit {
  /** Requests in each span, for each caller. */
  points: number;
  /** The span, in seconds. */
  duration: number;
}

/** Reads of the public lane, for each caller. */
export const READS: Limit = { points: 1_200, duration: 60 };
/** Orders of alerts, for each caller: each one sends a mail to somebody. */
export const ORDERS: Limit = { points: 30, duration: 60 };

const LOOPBACK = /^(?:127\.|0:0:0:0::\/64$)/;

/**
 * Counts callers without a key. Throws `rate_limited`. Where `sparesLocal` is
 * set, callers on this machine are not counted: the operator's own tools, and a
 * proxy that no setting names, behind which everybody would share one count.
 */
export function throttle(limit: Limit, proxies: BlockList, { sparesLocal = false } = {}) {
  const limiter = new RateLimiterMemory(limit);
  return createMiddleware<PaperEnv>(async (c, next) => {
    if (c.get('key') === null) {
      const caller = callerOf(c.env, proxies);
      if (!(sparesLocal && LOOPBACK.test(caller))) {
        await limiter.consume(caller).catch((refusal: unknown) => {
          if (!(refusal instanceof RateLimiterRes)) throw refusal;
          const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
          c.header('Retry-After', String(seconds));
          throw new Fault(
            'rate_limited',
            `more than ${limit.points} requests in ${limit.duration} seconds came from your address; try again in ${seconds} seconds, or use a key`,
          );
        });
      }
    }
    await next();
  });
}

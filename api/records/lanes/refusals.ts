import type { BlockList } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Fault } from '../../../src/fault.ts';
import { REFUSED_PAYMENTS as LIMIT } from '../../../src/limits.ts';
import { callerOf } from '../../middleware/caller.ts';
import { LOOPBACK } from '../../middleware/throttle.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../context.ts';

/** Counts the rejected payments of each address. Successful payers are never counted. */
export interface Refusals {
  /** Throws `rate_limited` after too many. */
  check(c: RecordsContext): Promise<void>;
  note(c: RecordsContext): Promise<void>;
}

export function countRefusals(proxies: BlockList): Refusals {
  const limiter = new RateLimiterMemory(LIMIT);
  return {
    async check(c) {
      const { consumedPoints, msBeforeNext } = (await limiter.get(callerOf(c.env, proxies))) ?? {
        consumedPoints: 0,
        msBeforeNext: 0,
      };
      if (consumedPoints < LIMIT.points) return;
      const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
      setHeader(c, 'Retry-After', String(seconds));
      throw new Fault(
        'rate_limited',
        `${LIMIT.points} payments from your address were rejected within ${LIMIT.duration} seconds; nothing was charged. Try again in ${seconds} seconds`,
      );
    },
    async note(c) {
      const caller = callerOf(c.env, proxies);
      if (!LOOPBACK.test(caller)) await limiter.penalty(caller);
    },
  };
}

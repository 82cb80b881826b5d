import { randomBytes } from 'node:crypto';
import type { LeaseTable } from '../../store/leases.ts';

/** How long a lease lasts, and how often its holder renews it, in ms: after a crash another process takes over. */
const LEASE_TIME = 10_000;
const RENEW_EVERY = 2_500;

/** This process's view of a lease: work that only one process does at a time. */
export interface Lease {
  /** Whether this process holds it now; requests or renews it when needed. */
  isHeld(): boolean;
  release(): void;
}

/** Competes for a lease; `acquired` runs when this process did not hold it before. */
export function requestLease(
  leases: LeaseTable,
  name: string,
  now: () => number,
  acquired: (at: number) => void,
): Lease {
  const owner = randomBytes(8).toString('hex');
  let askedAt = Number.NEGATIVE_INFINITY;
  let isMine = false;
  return {
    isHeld() {
      const at = now();
      // A process that was suspended may have lost it, so it asks before it works.
      if (at >= askedAt && at - askedAt < RENEW_EVERY) return isMine;
      const got = leases.acquire(name, owner, now, LEASE_TIME);
      if (got === 'acquired') acquired(at);
      askedAt = at;
      isMine = got !== null;
      return isMine;
    },
    release() {
      if (isMine) leases.release(name, owner);
    },
  };
}

import { randomBytes } from 'node:crypto';
import type { LogService } from '../../proof/log/leaf.ts';
import type { AppContext } from '../../server/context.ts';
import type { LeaseTable } from '../../store/services.ts';
import { DiskFault, isLocked } from '../fault.ts';

/** How long a lease lasts, and how often its holder renews it, in ms. */
export const LEASE_TIME = 10_000;
const RENEW_EVERY = 2_500;

/** This process's view of a lease, which lets only one process at a time do a job. */
export interface Lease {
  /** Whether this process holds the lease now; acquires or renews it when needed. */
  isHeld(): boolean;
  /** Releases the lease before it expires. Where the database cannot be written, it expires by itself. */
  release(): void;
}

/** Competes for a lease. `acquired` runs each time this process becomes the holder. */
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
      // A suspended process may have lost the lease, so it renews before it works.
      if (at >= askedAt && at - askedAt < RENEW_EVERY) return isMine;
      const got = leases.acquire(name, owner, now, LEASE_TIME);
      if (got === 'acquired') acquired(at);
      askedAt = at;
      isMine = got !== null;
      return isMine;
    },
    release() {
      if (!isMine) return;
      try {
        leases.release(name, owner);
      } catch (error) {
        // The lease expires by itself; an earlier error matters more to the caller.
        if (!isLocked(error) && !(error instanceof DiskFault)) throw error;
      }
    },
  };
}

/** The lease of a log: one process for each database signs its heads and writes its files. */
export function logLease({ store, clock: { now } }: AppContext, log: LogService, acquired: () => void): Lease {
  return requestLease(store.database.leases, `log of the ${log}`, now, acquired);
}

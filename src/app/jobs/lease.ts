import { randomBytes } from 'node:crypto';
import type { LeaseTable } from '../../store/leases.ts';

/** For how long a duty is this process's, in ms, and how often it says so: another takes it over after a crash. */
const LEASE_TIME = 10_000;
const RENEW_EVERY = 2_500;

/** Work that one process at a time does, as this process sees it. */
export interface Lease {
  /** Whether it is this process's now. */
  isHeld(): boolean;
  /** Gives it back. */
  release(): void;
}

/** Stands for a duty; `taken` runs when it was another's or nobody's before. */
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
      // A process that slept may have lost it: it asks before it does anything.
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

import { randomBytes } from 'node:crypto';
import type { LeaseTable } from '../../readers/lease.ts';

/** For how long a duty is this process's, in ms, and how often it says so: another takes it over after a crash. */
const DUTY = 10_000;
const DUTY_EVERY = 2_500;

/** Work that one process at a time does, as this process sees it. */
export interface Lease {
  /** Whether it is this process's now. */
  has(): boolean;
  /** Gives it back. */
  leave(): void;
}

/** Stands for a duty; `taken` runs when it was another's or nobody's before. */
export function holdLease(duties: LeaseTable, name: string, now: () => number, taken: (at: number) => void): Lease {
  const owner = randomBytes(8).toString('hex');
  let askedAt = Number.NEGATIVE_INFINITY;
  let isMine = false;
  return {
    has() {
      const at = now();
      // A process that slept may have lost it: it asks before it does anything.
      if (at >= askedAt && at - askedAt < DUTY_EVERY) return isMine;
      const got = duties.take(name, owner, now, DUTY);
      if (got === 'taken') taken(at);
      askedAt = at;
      isMine = got !== null;
      return isMine;
    },
    leave() {
      if (isMine) duties.leave(name, owner);
    },
  };
}

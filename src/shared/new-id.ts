import { randomInt } from 'node:crypto';
import { monotonicFactory } from 'ulid';

// ulid expects numbers in [0, 1).
const ulid = monotonicFactory(() => randomInt(2 ** 32) / 2 ** 32);

/** Returns a new id: a lower-case ULID, monotonic within this process. */
export function newId(): string {
  // A ULID has no time before 1970.
  return ulid(Math.max(1, Date.now())).toLowerCase();
}

import { dayOf } from '../time.ts';

/** The time at which a request counts, in ms: a clock set back never reopens a day once a later one has counted. */
export function accountingTime(now: number, lastDay: string | null): number {
  return lastDay !== null && lastDay > dayOf(now) ? Date.parse(lastDay) : now;
}

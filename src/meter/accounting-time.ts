import { dayOf } from '../time.ts';

/** The time that a request counts at: a clock that was set back opens no day again once a later one has counted. */
export function accountingTime(now: number, lastDay: string | null): number {
  return lastDay !== null && lastDay > dayOf(now) ? Date.parse(lastDay) : now;
}

// Days and months are UTC's. Times in ms.

const DAY = 86_400_000;

/** The day of a time, as YYYY-MM-DD. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The month of a time, as YYYY-MM. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

/** The next 00:00; of a time that is 00:00, the one after it. */
export function nextDayAt(at: number): number {
  return (Math.floor(at / DAY) + 1) * DAY;
}

/** The first moment of the next month. */
export function nextMonthAt(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

export function daysInMonth(at: number): number {
  const date = new Date(at);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

/** The last `count` days up to that of a time, oldest first. */
export function daysUpTo(at: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => dayOf(at - (count - 1 - n) * DAY));
}

/** Unix seconds, rounded up: whoever waits until then has waited long enough. */
export function unixSeconds(at: number): number {
  return Math.ceil(at / 1_000);
}

/** The time that a request counts at: a clock that was set back opens no day again once a later one has counted. */
export function accountingTime(now: number, lastDay: string | null): number {
  return lastDay !== null && lastDay > dayOf(now) ? Date.parse(lastDay) : now;
}

// Days and months are in UTC. Instants and spans are in milliseconds, texts in ISO 8601.

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** `2026-11-20T09:30:00.000Z`. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Whether a text is an instant in exactly the format of `isoTime`. Impossible dates such as 30 February are not. */
export function isIsoTime(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && isoTime(at) === text;
}

/** Like `isoTime`; null for null. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

/** Unix seconds, rounded up, so that a client that waits until then has waited long enough. */
export function unixSeconds(at: number): number {
  return Math.ceil(at / SECOND);
}

/** `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  return isoTime(at).slice(0, 10);
}

/** `YYYY-MM`. */
export function monthOf(at: number): string {
  return isoTime(at).slice(0, 7);
}

/** Whether a text is a calendar day, `YYYY-MM-DD`. Impossible dates such as 30 February are not. */
export function isDay(text: string): boolean {
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && dayOf(at) === text;
}

/** The day that is `days` later; earlier for a negative number. */
export function dayAfter(day: string, days = 1): string {
  return dayOf(Date.parse(day) + days * DAY);
}

/** The last `count` days up to the day of an instant, oldest first. */
export function daysUpTo(at: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => dayOf(at - (count - 1 - n) * DAY));
}

/** The next 00:00. For an instant at 00:00, the following one. */
export function nextDayAt(at: number): number {
  return (Math.floor(at / DAY) + 1) * DAY;
}

/** The first instant of the next month. */
export function nextMonthAt(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The number of days in the month of an instant. */
export function daysInMonth(at: number): number {
  return new Date(nextMonthAt(at) - 1).getUTCDate();
}

/** A span of time: `from` is inclusive, `until` exclusive. */
export interface Span {
  from: number;
  until: number;
}

/** The span of a day, `YYYY-MM-DD`. */
export function daySpan(day: string): Span {
  const from = Date.parse(day);
  return { from, until: from + DAY };
}

/** The span of a calendar day, or of an instant with its zone, which lasts one millisecond. Null for any other text. */
export function parseSpan(text: string): Span | null {
  if (isDay(text)) return daySpan(text);
  const day = INSTANT.exec(text)?.[1];
  // JavaScript accepts 24:00 as the next midnight; this program does not.
  if (day === undefined || !isDay(day) || text.includes('T24')) return null;
  const from = Date.parse(text);
  return Number.isNaN(from) ? null : { from, until: from + 1 };
}

/** A length of time in ISO 8601, in whole seconds: PT2M34S */
export function isoDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return `PT${Math.floor(whole / 60)}M${whole % 60}S`;
}

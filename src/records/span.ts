/** A day of the calendar, or a time with its zone. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

const DAY_MS = 86_400_000;

/** A span of time that a text names, in ms: `from` is within, `to` is not. A day is all of that UTC day. */
export interface Span {
  from: number;
  to: number;
}

/**
 * Reads `2026-11-20` or `2026-11-20T09:30:00Z`; null for anything else, the
 * thirtieth of February among it. A time is a span of one millisecond.
 */
export function spanOf(text: string): Span | null {
  const day = DAY.test(text) ? text : TIME.exec(text)?.[1];
  if (day === undefined || !isDay(day)) return null;
  const from = Date.parse(text);
  // 24:00 is a time to Date, and to no one else here.
  if (Number.isNaN(from) || /T24/.test(text)) return null;
  return { from, to: from + (day === text ? DAY_MS : 1) };
}

function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text;
}

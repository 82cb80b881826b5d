import { fill } from '../phrases/fill.ts';
import { formatters } from '../phrases/intl.ts';
import { phrasesOf } from '../phrases/tables.ts';

/** Maximum number of cached texts per format and language. */
const KEPT_MAX = 2_000;
/** The positions of the day, and of hour and minute, in ISO 8601. */
const DAY = [0, 10] as const;
const MINUTE = [11, 16] as const;

/**
 * Returns a function that formats a time in a language. `iso` is in UTC (`…Z`), and so is the text. `part` is the range
 * of characters of `iso` that the format depends on. Texts are cached by it: pages show the same days again and again,
 * and Intl takes longer than the rest of a row.
 */
function printer(
  options: Intl.DateTimeFormatOptions,
  [start, end]: readonly [number, number] = DAY,
): (language: string, iso: string) => string {
  const printers = formatters((language) => {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    const kept = new Map<string, string>();
    return (iso: string): string => {
      const part = iso.slice(start, end);
      let text = kept.get(part);
      if (text === undefined) {
        text = format.format(new Date(iso));
        if (kept.size >= KEPT_MAX) kept.clear();
        kept.set(part, text);
      }
      return text;
    };
  });
  return (language, iso) => printers(language)(iso);
}

/** Saturday, November 21, 2026 */
export const longDay = printer({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' });

/** November 21, 2026 */
export const plainDay = printer({ year: 'numeric', month: 'long', day: 'numeric' });

/** Nov 21, 2026. Always includes the year, because a pressed page may be read in any later year. */
export const shortDay = printer({ year: 'numeric', month: 'short', day: 'numeric' });

/** Sat 21 */
export const weekDay = printer({ weekday: 'short', day: 'numeric' });

/** 07:06 */
export const clock = printer({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, MINUTE);

/** November 2026 */
export const monthOf = printer({ year: 'numeric', month: 'long' });

/** Whether only the day of a time is known: archives without a time of day use the day's first millisecond. */
export const isDayAlone = (iso: string): boolean => iso.endsWith('T00:00:00.000Z');

/** November 21, 2026, 07:06 UTC; only the date when the time of day is unknown. */
export const moment = (language: string, iso: string): string =>
  isDayAlone(iso)
    ? plainDay(language, iso)
    : fill(phrasesOf(language).page.moment, { day: plainDay(language, iso), time: clock(language, iso) });

/** 2:34, or 1:02:34 */
export function runningTime(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}

const sizes = formatters((language) => {
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'megabyte', ...digits });
});

/** 14.2 MB */
export const megabytes = (language: string, bytes: number): string => sizes(language).format(bytes / 1e6);

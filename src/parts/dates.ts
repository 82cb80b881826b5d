/** Formatters are dear to make and a press prints thousands of dates: one of each is kept. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function print(language: string, options: Intl.DateTimeFormatOptions, iso: string): string {
  const key = `${language} ${JSON.stringify(options)}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = make(language, { ...options, timeZone: 'UTC' });
    formatters.set(key, formatter);
  }
  return formatter.format(new Date(iso));
}

/** A paper may name a language that the runtime does not know: its dates are then in English. */
function make(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(language, options);
  } catch {
    return new Intl.DateTimeFormat('en', options);
  }
}

/** Saturday, November 21, 2026 */
export const longDay = (language: string, iso: string): string =>
  print(language, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, iso);

/** November 21, 2026 */
export const plainDay = (language: string, iso: string): string =>
  print(language, { year: 'numeric', month: 'long', day: 'numeric' }, iso);

/** Nov 21 */
export const shortDay = (language: string, iso: string): string =>
  print(language, { month: 'short', day: 'numeric' }, iso);

/** 07:06 */
export const clock = (language: string, iso: string): string =>
  print(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, iso);

/** November 21, 2026 at 07:06 UTC */
export const moment = (language: string, iso: string): string =>
  `${plainDay(language, iso)}, ${clock(language, iso)} UTC`;

/** November 2026 */
export const monthOf = (language: string, iso: string): string =>
  print(language, { year: 'numeric', month: 'long' }, iso);

/** 2:34 */
export function runningTime(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** PT2M34S */
export function isoDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return `PT${Math.floor(whole / 60)}M${whole % 60}S`;
}

/** 14.2 MB */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

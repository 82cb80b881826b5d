import { Fault } from '../../shared/fault.ts';
import { isTimeZone } from '../papers/paper.ts';

/** The time zones that this system knows, with UTC first. */
export const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

/**
 * The time (ms) of a local clock reading in a zone, such as `2026-11-20T06:30` in `Europe/Berlin`. If a reading occurs
 * twice, as when summer time ends, the first one counts. Throws `invalid_request` for readings that do not occur there.
 */
export function zonedTime(field: string, local: string, zone: string): number {
  const reading = LOCAL.test(local) ? Date.parse(`${local}Z`) : Number.NaN;
  if (Number.isNaN(reading)) {
    throw invalid(field, `${JSON.stringify(local.slice(0, 40))} is not a time; write it as in 2026-11-20T06:30`);
  }
  const clock = clockIn(field, zone);
  // The offsets one day before and after cover a clock change in between.
  const offsets = [-1, 1].map((days) => readingAt(clock, reading + days * 86_400_000) - (reading + days * 86_400_000));
  const times = offsets.map((offset) => reading - offset).filter((time) => readingAt(clock, time) === reading);
  if (times.length === 0) {
    throw invalid(
      field,
      `${local} does not exist in ${zone}, where the clock is set forward then; choose another time`,
    );
  }
  return Math.min(...times);
}

function clockIn(field: string, zone: string): Intl.DateTimeFormat {
  // `supportedValuesOf` lists only one name per zone, such as Asia/Calcutta and not Asia/Kolkata, so it cannot be used
  // here.
  if (!isTimeZone(zone)) {
    throw invalid(field, `${JSON.stringify(zone.slice(0, 60))} is not a time zone; choose one, as in Europe/Berlin`);
  }
  const two = '2-digit' as const;
  const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const;
  return new Intl.DateTimeFormat('en-u-hc-h23', { ...parts, timeZone: zone });
}

/** The clock reading at a time, as if it were UTC (ms). */
function readingAt(clock: Intl.DateTimeFormat, time: number): number {
  const parts = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, value]));
  return Date.parse(`${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}Z`);
}

const invalid = (field: string, message: string): Fault =>
  new Fault('invalid_request', `${field}: ${message}`, { field, problems: [{ field, rule: 'invalid', message }] });

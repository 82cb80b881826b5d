import { Cron } from 'croner';
import type { AlertHour, DigestCadence, DigestTimes } from '../readers/digest.ts';
import { isoTime } from '../time.ts';

/** The day on which weekly digests go out. */
const WEEKLY_ON = 'MON';

/**
 * Digest times in a paper's time zone. When daylight saving time skips the hour, the digest goes out when that hour
 * would have been. When the hour occurs twice, the first one counts.
 */
export function digestTimes(): DigestTimes {
  const crons = new Map<string, Cron>();
  const cronOf = (cadence: DigestCadence, { hour, time_zone }: AlertHour): Cron => {
    const pattern = `0 0 ${hour} * * ${cadence === 'weekly' ? WEEKLY_ON : '*'}`;
    const key = `${pattern} ${time_zone}`;
    const cron = crons.get(key) ?? new Cron(pattern, { timezone: time_zone, paused: true });
    crons.set(key, cron);
    return cron;
  };
  return {
    next(cadence, hour, after) {
      const next = cronOf(cadence, hour).nextRun(new Date(after));
      if (next === null) throw new Error(`no ${cadence} digest comes after ${isoTime(after)}`);
      return next.getTime();
    },
    last(cadence, hour, until) {
      // A run exactly at `until` counts, so the search starts 1 ms later.
      const [last] = cronOf(cadence, hour).previousRuns(1, new Date(until + 1));
      if (last === undefined) throw new Error(`no ${cadence} digest came before ${isoTime(until)}`);
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: hour.time_zone, dateStyle: 'short' }).format(last);
      return { at: last.getTime(), day };
    },
  };
}

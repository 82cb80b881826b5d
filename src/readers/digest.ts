import type { AlertEvent, Reader } from './alert.ts';
import { subjectIdOf, wants } from './alert.ts';

/** When a paper sends its digests. */
export interface AlertHour {
  /** 0 to 23, in local time of the zone. */
  hour: number;
  /** A zone of the IANA time zone database. */
  time_zone: string;
}

export const DIGESTS = ['daily', 'weekly'] as const;
export type DigestCadence = (typeof DIGESTS)[number];

/** When a paper without its own hour sends its digests. */
export const DEFAULT_HOUR: AlertHour = { hour: 7, time_zone: 'UTC' };

/** When a paper's digests are due, and the progress of the current one. */
export interface DigestRound extends AlertHour {
  /** The next due time, in ms; during a round, its own. */
  due_at: number;
  /** The round in progress: its local day (YYYY-MM-DD), and the last event that it may cover. */
  under_way: { day: string; until: number } | null;
  /** The last reader of the round whose digest is queued; empty before the first. */
  after: string;
}

/** A paper's local times, with daylight saving time. Each local day, or each Monday, has one. */
export interface DigestTimes {
  /** The first due time after another time, in ms. */
  next(cadence: DigestCadence, hour: AlertHour, after: number): number;
  /** The last due time up to another time, in ms, and its local day. */
  last(cadence: DigestCadence, hour: AlertHour, until: number): { at: number; day: string };
}

/**
 * A reader's digest: the events, in order, that the reader wants and that neither a digest nor an instant alert has
 * covered.
 */
export function digestOf(
  reader: Reader,
  events: readonly AlertEvent[],
  alertedInstantly: (subjects: string[]) => string[],
): AlertEvent[] {
  const wanted = events.filter((event) => event.n > (reader.through ?? 0) && wants(reader, event));
  if (wanted.length === 0) return [];
  const covered = new Set(alertedInstantly(wanted.map(subjectIdOf)));
  return wanted.filter((event) => !covered.has(subjectIdOf(event)));
}

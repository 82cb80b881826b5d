import type { AlertEvent, Reader } from './alert.ts';
import { subjectIdOf, wants } from './alert.ts';

/** When a paper's digests go out. */
export interface AlertHour {
  /** 0 to 23, on the clock of the zone. */
  hour: number;
  /** A name of the IANA time zone database. */
  time_zone: string;
}

export const DIGESTS = ['daily', 'weekly'] as const;
export type DigestCadence = (typeof DIGESTS)[number];

/** When a paper with no hour of its own sends its digests (spec of issue 4: "default 07:00 UTC"). */
export const DEFAULT_HOUR: AlertHour = { hour: 7, time_zone: 'UTC' };

/** When a paper's digests are due, and the progress of the one under way. */
export interface DigestRound extends AlertHour {
  /** The next time, in ms; or the one of the round under way. */
  due_at: number;
  /** The round under way: its local day (YYYY-MM-DD), and the last event that it may cover. */
  under_way: { day: string; until: number } | null;
  /** The last reader of the round whose digest is queued; empty before the first. */
  after: string;
}

/** The local time of a paper, daylight saving included. Each local day, or each Monday, has one time. */
export interface DigestTimes {
  /** The first time after another one, in ms. */
  next(cadence: DigestCadence, hour: AlertHour, after: number): number;
  /** The last time up to another one, in ms, and the local day that it is on. */
  last(cadence: DigestCadence, hour: AlertHour, until: number): { at: number; day: string };
}

/** A reader's digest: the events, in order, that the reader wants and that neither a digest nor an instant alert has covered. */
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

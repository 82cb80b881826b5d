import { type CastEvent, isNews, type StoryEvent } from '../event.ts';
import type { EventTable, StoredEvent } from './event-table.ts';
import type { QueuedMail } from './mail.ts';
import type { Choices } from './subscriber.ts';

/** A confirmed reader who is not suppressed. */
export interface Reader extends Choices {
  /** The subscriber's id. */
  id: string;
  /** The last event that digests have covered; null before the first digest. */
  through: number | null;
  confirmed_at: number;
}

/** An event that causes a mail. */
export type AlertEvent = ((StoryEvent & { type: 'story.aired' }) | CastEvent) & Pick<StoredEvent, 'n' | 'id'>;

/**
 * Whether an event causes a mail: the first airing of a piece, and the first video edition of a day. Revisions and
 * corrections do not, since the piece's page and the corrections page show them; neither does a piece that returns
 * after a withdrawal.
 */
export function isAlert(event: StoredEvent, isRepeat: boolean): event is AlertEvent {
  if (isRepeat) return false;
  if (event.type === 'story.aired') return isNews(event.story.published_at, event.at);
  return event.type === 'cast.published';
}

/** The subject of an event: the piece's id, or the day of the video edition. */
export function subjectIdOf(event: AlertEvent): string {
  return event.type === 'story.aired' ? event.story.id : event.cast.day;
}

/** Whether a reader wants an event, by section or as a video edition. Events before the confirmation are not wanted. */
export function wants(
  { sections, cast, confirmed_at }: Pick<Reader, 'sections' | 'cast' | 'confirmed_at'>,
  event: AlertEvent,
): boolean {
  if (event.at < confirmed_at) return false;
  if (event.type === 'cast.published') return cast;
  return sections === null || sections.includes(event.story.category);
}

/** When a paper sends its digests. */
export interface AlertHour {
  /** 0 to 23, in local time of the zone. */
  hour: number;
  /** A zone of the IANA time zone database. */
  time_zone: string;
}

export const DIGESTS = ['daily', 'weekly'] as const;
export type DigestCadence = (typeof DIGESTS)[number];

/** When a paper's digests are due, and the progress of the current one. */
export interface DigestRound extends AlertHour {
  /** The next due time, in ms; during a round, its own. */
  due_at: number;
  /** The round in progress: its local day (YYYY-MM-DD), and the last event that it may cover. */
  under_way: { day: string; until: number } | null;
  /** The last reader of the round whose digest is queued; empty before the first. */
  after: string;
}

/** The data of the queues of alerts and digests. Readers are ordered by id, and listed from after a given one. */
export interface AlertTable {
  /** Readers with instant alerts. */
  instant(paper: string, after: string, limit: number): Reader[];
  /** Readers of a digest; of the daily one also those who changed to instant alerts and are due a last digest. */
  ofDigest(paper: string, cadence: DigestCadence, after: string, limit: number): Reader[];
  /** Whether an earlier event announced the same piece, or the edition of the same day. */
  isRepeat(event: StoredEvent): boolean;
  /** A paper's events after a number, up to another one. */
  events(paper: string, after: number, until: number): StoredEvent[];
  /** Events by number, without those that were deleted. */
  eventsAt(numbers: readonly number[]): StoredEvent[];
  /** Queues a mail, with the numbers of its events. False when the reader was mailed about it before. */
  queue(mail: QueuedMail & { events: number[] }): boolean;
  /** Which of these pieces and days a reader got instant alerts about. */
  alertedInstantly(subscriber: string, matters: readonly string[]): string[];
  /** The numbers of a mail's events. */
  eventsOf(mail: string): number[];
  /** Records that a reader's digests have covered an event and all before it. */
  markDigested(subscriber: string, n: number): void;
  digest(paper: string, cadence: DigestCadence): DigestRound | null;
  setDigest(paper: string, cadence: DigestCadence, round: DigestRound): void;
  /** Deletes mails that were settled at or before a time. */
  forget(until: number): void;
}

/** The name of the mails' position in the events. */
export const MAILS_CURSOR = 'mails';
/** Readers per transaction, which blocks other writers and requests. */
const BATCH = 100;

/** The part of the store that queueing uses. */
export interface AlertStore {
  alerts: AlertTable;
  events: EventTable;
  /** Runs `work` as one transaction, exclusively among all processes. */
  transact<T>(work: () => T): T;
}

/**
 * Queues the next event for readers with instant alerts, or for the next batch of them. The cursor moves in the same
 * transaction, so that each piece is queued exactly once per reader, even after a crash. The event was written together
 * with the airing, so that none is lost. Returns how many mails were queued, or null when no event is left.
 */
export function queueAlerts(
  { events, alerts, transact }: AlertStore,
  { now, newId }: { now(): number; newId(): string },
): number | null {
  // Checked outside of a transaction: most polls find nothing.
  if (events.next(events.cursor(MAILS_CURSOR).n) === null) return null;
  return transact(() => {
    const cursor = events.cursor(MAILS_CURSOR);
    const event = events.next(cursor.n);
    if (event === null) return null;
    const passed = { n: event.n, after: '' };
    if (!isAlert(event, alerts.isRepeat(event))) {
      events.setCursor(MAILS_CURSOR, passed);
      return 0;
    }
    const due_at = now();
    const readers = alerts.instant(event.paper, cursor.after, BATCH);
    let count = 0;
    for (const reader of readers) {
      if (!wants(reader, event)) continue;
      const mail = { paper: event.paper, subscriber: reader.id, kind: 'instant' as const, about: subjectIdOf(event) };
      if (alerts.queue({ ...mail, id: newId(), due_at, events: [event.n] })) count++;
    }
    const last = readers.length < BATCH ? undefined : readers.at(-1);
    events.setCursor(MAILS_CURSOR, last === undefined ? passed : { n: cursor.n, after: last.id });
    return count;
  });
}

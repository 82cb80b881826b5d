import { type CastEvent, isNews, type StoryEvent } from '../event.ts';
import { advance, type EventTable, type StoredEvent } from './event-table.ts';
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
 * Queues the next event for readers with instant alerts, or for the next batch of them. The event was written together
 * with the airing, so that none is lost. False when no event is left.
 */
export function queueAlerts(store: AlertStore, { now, newId }: { now(): number; newId(): string }): boolean {
  const { alerts } = store;
  return advance(store, MAILS_CURSOR, (event, after) => {
    if (!isAlert(event, alerts.isRepeat(event))) return null;
    const due_at = now();
    const readers = alerts.instant(event.paper, after, BATCH);
    for (const { id: subscriber } of readers.filter((reader) => wants(reader, event))) {
      const mail = { paper: event.paper, subscriber, kind: 'instant' as const, about: subjectIdOf(event) };
      alerts.queue({ ...mail, id: newId(), due_at, events: [event.n] });
    }
    return readers.length < BATCH ? null : (readers.at(-1)?.id ?? null);
  });
}

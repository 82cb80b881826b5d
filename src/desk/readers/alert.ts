import { type CastEvent, isNews, type StoryEvent } from '../event.ts';
import { advance, type EventTable, type StoredEvent } from './event-table.ts';
import type { QueuedMail } from './mail.ts';
import type { Choices } from './subscriber.ts';

/** A confirmed reader who is not suppressed. */
interface Reader extends Choices {
  /** The subscriber's id. */
  id: string;
  /** The last event that digests have covered; null before the first digest. */
  through: number | null;
  confirmed_at: number;
}

/** An event that causes a mail. */
type AlertEvent = ((StoryEvent & { type: 'story.aired' }) | CastEvent) & Pick<StoredEvent, 'n' | 'id'>;

/**
 * Whether an event causes a mail: the first airing of a piece, and the first edition of a day. Revisions and
 * corrections do not, since the piece's page and the corrections page show them; neither does a piece that returns
 * after a withdrawal.
 */
function isAlert(event: StoredEvent, isRepeat: boolean): event is AlertEvent {
  if (isRepeat) return false;
  if (event.type === 'story.aired') return isNews(event.story.published_at, event.at);
  return event.type === 'cast.published';
}

/** What an event is about: the piece's id, or the day of the edition. */
function subjectIdOf(event: AlertEvent): string {
  return event.type === 'story.aired' ? event.story.id : event.cast.day;
}

/** Whether a reader wants an event, by section or as an edition. Events before the confirmation are not wanted. */
function wants(
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

const DIGESTS = ['daily', 'weekly'] as const;
export type DigestCadence = (typeof DIGESTS)[number];

/** When a paper's digests are due, and the progress of the current one. */
interface DigestRound extends AlertHour {
  /** The next due time, in ms; during a round, its own. */
  due_at: number;
  /** The round in progress: its local day (YYYY-MM-DD), and the last event that it may cover. */
  under_way: { day: string; until: number } | null;
  /** The last reader of the round whose digest is queued; empty before the first. */
  after: string;
}

/** The data for queueing alerts and digests. Lists of readers are ordered by id and continue after a given id. */
export interface AlertTable {
  /** Readers with instant alerts. */
  instant(paper: string, after: string, limit: number): Reader[];
  /** Readers of a digest; of the daily one also those who changed to instant alerts and are due a last digest. */
  ofDigest(paper: string, cadence: DigestCadence, after: string, limit: number): Reader[];
  /** Whether an earlier event announced the same piece, or the edition of the same day. */
  isRepeat(event: StoredEvent): boolean;
  /** A paper's events after one number, up to and including another. */
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

/** The name of the cursor of mails in the events. */
const MAILS_CURSOR = 'mails';
/** Readers per transaction, which blocks other writers and requests. */
const BATCH = 100;

/** The part of the store that queueing uses. */
interface AlertStore {
  alerts: AlertTable;
  events: EventTable;
  /** Runs `work` as one transaction, exclusively among all processes. */
  transact<T>(work: () => T): T;
}

/**
 * Queues the next event for readers with instant alerts, or for the next batch of them. Events are stored in the
 * transaction of the airing, so none is lost. Returns false when no event is left.
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

/** When a paper without an hour of its own sends its digests. */
export const DEFAULT_HOUR: AlertHour = { hour: 7, time_zone: 'UTC' };

/** Calculates local times with daylight saving time. Each local day, or each Monday, has exactly one due time. */
export interface DigestTimes {
  /** The first due time after another time, in ms. */
  next(cadence: DigestCadence, hour: AlertHour, after: number): number;
  /** The last due time up to another time, in ms, and its local day. */
  last(cadence: DigestCadence, hour: AlertHour, until: number): { at: number; day: string };
}

/** The events, in order, that the reader wants and that no earlier digest or instant alert has covered. */
function digestOf(
  reader: Reader,
  events: readonly AlertEvent[],
  alertedInstantly: (subjects: string[]) => string[],
): AlertEvent[] {
  const wanted = events.filter((event) => event.n > (reader.through ?? 0) && wants(reader, event));
  if (wanted.length === 0) return [];
  const covered = new Set(alertedInstantly(wanted.map(subjectIdOf)));
  return wanted.filter((event) => !covered.has(subjectIdOf(event)));
}

type UnderWay = NonNullable<DigestRound['under_way']>;

/** The dependencies of a digest queue, besides the store. */
interface DigestSettings {
  /** Papers, and when their digests go out. */
  papers(): (AlertHour & { slug: string })[];
  times: DigestTimes;
  /** The present time, in ms. */
  now(): number;
  newId(): string;
}

/**
 * Queues due digests. After a downtime it sends only the last one missed, with everything since the one before. Each call
 * queues those of the next batch of readers of one paper and cadence; false when nothing is due.
 */
export function digestQueue(
  { alerts, events, transact }: AlertStore,
  { papers, times, now, newId }: DigestSettings,
): () => boolean {
  /** The events of the digest in progress, which are the same for every batch of readers. */
  let cached: { paper: string; until: number; events: AlertEvent[] } | null = null;

  const eventsUntil = (paper: string, until: number): AlertEvent[] => {
    if (cached?.paper !== paper || cached.until !== until) {
      const found = alerts
        .events(paper, 0, until)
        .filter((event): event is AlertEvent => isAlert(event, alerts.isRepeat(event)));
      cached = { paper, until, events: found };
    }
    return cached.events;
  };

  /** Queues the digests of a batch of readers. Returns the id of the last reader, or null if the round is complete. */
  const queue = (paper: string, cadence: DigestCadence, { day, until }: UnderWay, after: string): string | null => {
    const readers = alerts.ofDigest(paper, cadence, after, BATCH);
    const candidates = eventsUntil(paper, until);
    for (const reader of readers) {
      const digest = digestOf(reader, candidates, (subjects) => alerts.alertedInstantly(reader.id, subjects));
      const numbers = digest.map(({ n }) => n);
      const mail = { paper, subscriber: reader.id, kind: cadence, about: day, due_at: now(), events: numbers };
      // The day already had its digest, for example because the paper's hour was changed. The next digest covers these
      // events.
      if (numbers.length > 0 && !alerts.queue({ ...mail, id: newId() })) continue;
      alerts.markDigested(reader.id, until);
    }
    return readers.length < BATCH ? null : (readers.at(-1)?.id ?? null);
  };

  /** Continues a round, starts a due one, or records the next due time. Returns true if any readers were processed. */
  const advance = (paper: string, cadence: DigestCadence, at: AlertHour): boolean => {
    const kept = alerts.digest(paper, cadence);
    const rest = { ...at, due_at: times.next(cadence, at, now()), under_way: null, after: '' };
    if (kept === null || (kept.under_way === null && !isSame(kept, at))) {
      alerts.setDigest(paper, cadence, rest);
      return false;
    }
    if (kept.under_way === null && kept.due_at > now()) return false;
    const under_way = kept.under_way ?? {
      day: times.last(cadence, kept, now()).day,
      // Events that are still being queued as instant alerts belong to a later digest.
      until: events.cursor(MAILS_CURSOR).n,
    };
    const last = queue(paper, cadence, under_way, kept.after);
    alerts.setDigest(paper, cadence, last === null ? rest : { ...kept, under_way, after: last });
    return true;
  };

  return () => {
    for (const { slug, hour, time_zone } of papers()) {
      for (const cadence of DIGESTS) {
        const at = { hour, time_zone };
        const round = alerts.digest(slug, cadence);
        const rests = round !== null && round.under_way === null && isSame(round, at) && round.due_at > now();
        if (!rests && transact(() => advance(slug, cadence, at))) return true;
      }
    }
    return false;
  };
}

function isSame(a: AlertHour, b: AlertHour): boolean {
  return a.hour === b.hour && a.time_zone === b.time_zone;
}

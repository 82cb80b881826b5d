import {
  type AlertEvent,
  type AlertHour,
  type AlertStore,
  DIGESTS,
  type DigestCadence,
  type DigestRound,
  isAlert,
  MAILS_CURSOR,
  type Reader,
  subjectIdOf,
  wants,
} from './alert.ts';

/** When a paper without its own hour sends its digests. */
export const DEFAULT_HOUR: AlertHour = { hour: 7, time_zone: 'UTC' };

/** A paper's local times, with daylight saving time. Each local day, or each Monday, has one. */
export interface DigestTimes {
  /** The first due time after another time, in ms. */
  next(cadence: DigestCadence, hour: AlertHour, after: number): number;
  /** The last due time up to another time, in ms, and its local day. */
  last(cadence: DigestCadence, hour: AlertHour, until: number): { at: number; day: string };
}

/** The events, in order, that the reader wants and that no earlier digest or instant alert has covered. */
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

type UnderWay = NonNullable<DigestRound['under_way']>;

/** How many readers are considered in one transaction. */
const BATCH = 100;

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

  /** Queues the digests of a batch of readers. Returns the last of them, or null when the round is complete. */
  const queue = (paper: string, cadence: DigestCadence, { day, until }: UnderWay, after: string): string | null => {
    const readers = alerts.ofDigest(paper, cadence, after, BATCH);
    const candidates = eventsUntil(paper, until);
    for (const reader of readers) {
      const digest = digestOf(reader, candidates, (subjects) => alerts.alertedInstantly(reader.id, subjects));
      const numbers = digest.map(({ n }) => n);
      const mail = { paper, subscriber: reader.id, kind: cadence, about: day, due_at: now(), events: numbers };
      // The day already had its digest, as when the paper's hour was changed. The next day's digest covers these
      // events.
      if (numbers.length > 0 && !alerts.queue({ ...mail, id: newId() })) continue;
      alerts.markDigested(reader.id, until);
    }
    return readers.length < BATCH ? null : (readers.at(-1)?.id ?? null);
  };

  /** Continues a round, starts one that is due, or records when the next one is. True when readers were considered. */
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
      // Events that are still being queued as instant alerts do not belong to a digest yet.
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

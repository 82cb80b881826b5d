import type { AlertEvent } from './alert.ts';
import { isAlert } from './alert.ts';
import type { AlertDesk } from './alert-desk.ts';
import { MAILS_MARK } from './alert-queue.ts';
import type { AlertHour, DigestCadence, DigestRound, DigestTimes } from './digest.ts';
import { DIGESTS, digestOf } from './digest.ts';

type UnderWay = NonNullable<DigestRound['under_way']>;

/** How many readers are looked at in one transaction. */
const BATCH = 100;

/**
 * Queues digests that are due; their times are in the database. A process that
 * slept sends the last one it missed, with everything since the one before, and
 * not one for each day.
 */
export class DigestQueue {
  readonly #desk: AlertDesk;
  readonly #times: DigestTimes;
  /** What the round under way tells: the same for every batch of its readers. */
  #told: { paper: string; until: number; events: AlertEvent[] } | null = null;

  constructor(desk: AlertDesk, times: DigestTimes) {
    this.#desk = desk;
    this.#times = times;
  }

  /** Queues the digests of the next batch of readers of one paper and cadence. False when nothing is due. */
  next(): boolean {
    const { alerts, now, papers, transact } = this.#desk;
    for (const { slug, hour, time_zone } of papers()) {
      for (const cadence of DIGESTS) {
        const at = { hour, time_zone };
        const round = alerts.digest(slug, cadence);
        const rests = round !== null && round.under_way === null && isSame(round, at) && round.due_at > now();
        if (!rests && transact(() => this.#advance(slug, cadence, at))) return true;
      }
    }
    return false;
  }

  /** Goes on with a round, begins one that is due, or notes when the next one is. True when readers were looked at. */
  #advance(paper: string, cadence: DigestCadence, at: AlertHour): boolean {
    const { alerts, events, now } = this.#desk;
    const kept = alerts.digest(paper, cadence);
    const rest = { ...at, due_at: this.#times.next(cadence, at, now()), under_way: null, after: '' };
    if (kept === null || (kept.under_way === null && !isSame(kept, at))) {
      alerts.setDigest(paper, cadence, rest);
      return false;
    }
    if (kept.under_way === null && kept.due_at > now()) return false;
    const under_way = kept.under_way ?? {
      day: this.#times.last(cadence, kept, now()).day,
      // What those are still being told at once who asked for it is not a digest's yet.
      until: events.mark(MAILS_MARK).n,
    };
    const last = this.#tell(paper, cadence, under_way, kept.after);
    alerts.setDigest(paper, cadence, last === null ? rest : { ...kept, under_way, after: last });
    return true;
  }

  /** Queues the digests of a batch of readers. Returns the last of them, or null when the round is through. */
  #tell(paper: string, cadence: DigestCadence, { day, until }: UnderWay, after: string): string | null {
    const { alerts, newId, now } = this.#desk;
    const readers = alerts.ofDigest(paper, cadence, after, BATCH);
    const told = this.#events(paper, until);
    for (const reader of readers) {
      const events = digestOf(reader, told, (matters) => alerts.toldAtOnce(reader.id, matters)).map(({ n }) => n);
      const mail = { paper, subscriber: reader.id, kind: cadence, about: day, due_at: now(), events };
      // Where the day had its digest already, as when the paper's hour was moved, the next day's tells it.
      if (events.length > 0 && !alerts.queue({ ...mail, id: newId() })) continue;
      alerts.through(reader.id, until);
    }
    return readers.length < BATCH ? null : (readers.at(-1)?.id ?? null);
  }

  #events(paper: string, until: number): AlertEvent[] {
    if (this.#told?.paper !== paper || this.#told.until !== until) {
      const { alerts } = this.#desk;
      const events = alerts
        .events(paper, 0, until)
        .filter((event): event is AlertEvent => isAlert(event, alerts.wasTold(event)));
      this.#told = { paper, until, events };
    }
    return this.#told.events;
  }
}

function isSame(a: AlertHour, b: AlertHour): boolean {
  return a.hour === b.hour && a.time_zone === b.time_zone;
}

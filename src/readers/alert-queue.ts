import { isAlert, subjectIdOf, wants } from './alert.ts';
import type { AlertTable } from './alert-table.ts';
import type { EventTable } from './event-table.ts';

/** The name of the mails' position in the events. */
export const MAILS_MARK = 'mails';
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
 * Queues the next event for readers with instant alerts, or for the next batch of them. The mark moves in the same
 * transaction, so that each piece is queued exactly once per reader, even after a crash. The event was written together
 * with the airing, so that none is lost. Returns how many mails were queued, or null when no event is left.
 */
export function queueAlerts(
  { events, alerts, transact }: AlertStore,
  { now, newId }: { now(): number; newId(): string },
): number | null {
  // Checked outside of a transaction: most polls find nothing.
  if (events.next(events.mark(MAILS_MARK).n) === null) return null;
  return transact(() => {
    const mark = events.mark(MAILS_MARK);
    const event = events.next(mark.n);
    if (event === null) return null;
    const passed = { n: event.n, after: '' };
    if (!isAlert(event, alerts.isRepeat(event))) {
      events.setMark(MAILS_MARK, passed);
      return 0;
    }
    const due_at = now();
    const readers = alerts.instant(event.paper, mark.after, BATCH);
    let count = 0;
    for (const reader of readers) {
      if (!wants(reader, event)) continue;
      const mail = { paper: event.paper, subscriber: reader.id, kind: 'instant' as const, about: subjectIdOf(event) };
      if (alerts.queue({ ...mail, id: newId(), due_at, events: [event.n] })) count++;
    }
    const last = readers.length < BATCH ? undefined : readers.at(-1);
    events.setMark(MAILS_MARK, last === undefined ? passed : { n: mark.n, after: last.id });
    return count;
  });
}

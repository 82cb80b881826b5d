import { isAlert, subjectIdOf, wants } from './alert.ts';
import type { AlertDesk } from './alert-desk.ts';

/** The name under which the mails' place among the events is kept. */
export const MAILS_MARK = 'mails';
/** How many readers are looked at in one transaction: others want to write, and to be answered. */
const BATCH = 100;

/**
 * Queues the next event for those who are told at once, or for the next batch of
 * them, and moves the mark with it: whatever crashes, each has each piece queued
 * once. The event was written with the airing, so that none is lost between.
 * Returns how many mails were queued, or null when no event is left.
 */
export function queueAlerts(desk: AlertDesk): number | null {
  const { events, alerts } = desk;
  // Looked at outside of a transaction: most looks find nothing.
  if (events.next(events.mark(MAILS_MARK).n) === null) return null;
  return desk.transact(() => {
    const mark = events.mark(MAILS_MARK);
    const event = events.next(mark.n);
    if (event === null) return null;
    const passed = { n: event.n, after: '' };
    if (!isAlert(event, alerts.wasTold(event))) {
      events.setMark(MAILS_MARK, passed);
      return 0;
    }
    const due_at = desk.now();
    const readers = alerts.instant(event.paper, mark.after, BATCH);
    let count = 0;
    for (const reader of readers) {
      if (!wants(reader, event)) continue;
      const mail = { paper: event.paper, subscriber: reader.id, kind: 'instant' as const, about: subjectIdOf(event) };
      if (alerts.queue({ ...mail, id: desk.newId(), due_at, events: [event.n] })) count++;
    }
    const last = readers.length < BATCH ? undefined : readers.at(-1);
    events.setMark(MAILS_MARK, last === undefined ? passed : { n: mark.n, after: last.id });
    return count;
  });
}

import { DAY } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { newId } from '../../shared/new-id.ts';
import type { WebhookService } from '../../shared/outbound/webhook-job.ts';
import { type DeltaSource, queueChangeMails, queueChanges, queueEvent } from '../accounts/change-queue.ts';
import { unwatchAbandoned } from '../accounts/watching.ts';
import { eventRow } from '../declared-expectations.ts';
import type { Delta } from '../delta.ts';
import { eventMessage, missPlans, PLAN_GRACE } from '../expectations.ts';
import { releasePlaces } from '../plans.ts';
import { changeLine, deltaRow } from '../wire-rows.ts';

/** Retention of queued changes, in ms. */
const KEPT = 35 * DAY;

/** The alerts of accounts: sends the webhooks, queues the mails, and stops watching hostnames that are in no group. */
export function recordsWebhooks(app: AppContext): WebhookService {
  const { store } = app;
  return {
    job: 'account-webhooks',
    source: { deliveries: store.records.changeDeliveries, webhooks: store.records.changeWebhooks },
    queueNext: () => queueAccountChanges(app),
    cleanUp(at) {
      store.records.changeQueue.forget(at - KEPT);
      store.records.expectations.forget(at - KEPT);
      unwatchAbandoned(store.records, at);
      releasePlaces(app);
    },
  };
}

/** Queues the next changes for webhooks and mails. Returns false when none are left. */
function queueAccountChanges(app: AppContext): boolean {
  const { store, settings, clock } = app;
  const isMore = [
    queueChanges(store.records, deltaSource(app), { now: clock.now, newId, root: settings.dataOrigin }),
    queueExpectations(app),
  ].includes(true);
  // Mails wait until every change is matched, so that all changes after a downtime go into one mail.
  if (!isMore) queueChangeMails(store.records, { now: clock.now, newId });
  return isMore;
}

/** The most events in one transaction, which blocks other writers. */
const BATCH = 100;

/** Queues the events of expectations. Returns whether more are left. */
function queueExpectations(app: AppContext): boolean {
  const { store, settings, clock } = app;
  const { records } = store;
  const { expectations, changeQueue, transact } = records;
  const now = clock.now();
  // With a wrong clock, windows might end early.
  if (clock.fault() === null && expectations.endedBefore(now - PLAN_GRACE, 1).length > 0) {
    transact(() => missPlans(expectations, now));
  }
  if (!expectations.isQueueing()) return false;
  return transact(() => {
    const events = expectations.toQueue(BATCH);
    for (const event of events) {
      expectations.queued(event.n);
      // Nothing is sent about hostnames that opted out meanwhile.
      if (records.find(event.hostname)?.state === 'opted_out') continue;
      for (const alert of changeQueue.alertsFor(event.hostname, event.at, '')) {
        if (alert.account !== event.account) continue;
        if (alert.way === 'webhook') {
          // A planned change needs nobody's attention, so it is not sent to chats. A program may want its proof, and a
          // pager must resolve its incident.
          const isCall = alert.format !== 'standard' && alert.format !== 'pagerduty';
          if (event.kind === 'done_as_planned' && isCall) continue;
          const data = { event: eventRow(app, event) };
          const sent = { type: `domain.${event.kind}`, data, message: eventMessage(event) };
          queueEvent(changeQueue, alert, sent, { made_at: now, newId, root: settings.dataOrigin });
        } else if (event.kind !== 'done_as_planned') {
          expectations.notice(alert.account, event.n, alert.way, event.at);
        }
      }
    }
    return events.length === BATCH;
  });
}

export function deltaSource({ store: { records } }: AppContext): DeltaSource<Delta> {
  return {
    after: (seq, limit) => records.deltas({}, { limit, order: 'oldest', cursor: seq }),
    newest: () => records.newestDelta(),
    row: deltaRow,
    line: changeLine,
  };
}

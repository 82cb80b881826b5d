import { DAY } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { newId } from '../../shared/new-id.ts';
import type { WebhookService } from '../../shared/outbound/webhook-job.ts';
import { type DeltaSource, queueChangeMails, queueChanges } from '../accounts/change-queue.ts';
import { unwatchAbandoned } from '../accounts/watching.ts';
import type { Delta } from '../delta.ts';
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
      unwatchAbandoned(store.records, at);
      releasePlaces(app);
    },
  };
}

/** Queues the next changes for webhooks and mails. Returns false when none are left. */
function queueAccountChanges(app: AppContext): boolean {
  const { store, settings, clock } = app;
  const isMore = queueChanges(store.records, deltaSource(app), { now: clock.now, newId, root: settings.dataOrigin });
  // Mails wait until every change is matched, so that all changes after a downtime go into one mail.
  if (!isMore) queueChangeMails(store.records, { now: clock.now, newId });
  return isMore;
}

export function deltaSource({ store: { records } }: AppContext): DeltaSource<Delta> {
  return {
    after: (seq, limit) => records.deltas({}, { limit, order: 'oldest', cursor: seq }),
    newest: () => records.newestDelta(),
    row: deltaRow,
    line: changeLine,
  };
}

import type { DeliveryJob, DeliveryQueue } from '../readers/delivery.ts';
import type { WebhookStates } from '../readers/webhook-table.ts';
import { deliveryQueue } from './delivery-queue.ts';
import type { Db } from './open.ts';

/** Deliveries to the webhooks of accounts, as the readers' courier sends them. */
export function changeDeliveryTable(db: Db): DeliveryQueue<DeliveryJob> {
  return deliveryQueue(db, {
    deliveries: 'change_deliveries',
    attempts: 'change_attempts',
    webhook: 'alert',
    consignments: `SELECT d.id, d.id AS message, d.type, d.body, d.alert AS webhook, d.host, a.url, a.secret, d.tries,
        d.by_hand, d.lease
      FROM change_deliveries d JOIN change_alerts a ON a.id = d.alert`,
  });
}

/** How the webhooks of accounts do. Their addresses never change: another address is another alert. */
export function changeWebhookStates(db: Db): WebhookStates {
  const took = db.prepare(
    'UPDATE change_alerts SET failing_since = NULL, off_at = NULL, off_reason = NULL WHERE id = ? AND (failing_since IS NOT NULL OR off_at IS NOT NULL)',
  );
  const failed = db.prepare(
    `UPDATE change_alerts SET failing_since = coalesce(failing_since, ?2) WHERE id = ?1
     RETURNING failing_since, off_at IS NOT NULL AS is_off`,
  );
  const off = db.prepare('UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE id = ?1');
  return {
    took(id) {
      took.run(id);
    },
    failed(id, _, at) {
      const [row] = failed.all(id, at) as { failing_since: number; is_off: number }[];
      return { since: row?.failing_since ?? at, isOff: row?.is_off === 1 };
    },
    switchOff(id, _, reason, at) {
      off.run(id, reason, at);
    },
  };
}

import type { DeliveryJob, DeliveryQueue, WebhookStates } from '../outbound/delivery.ts';
import { flag, integer, orNull, text } from './columns.ts';
import { deliveryQueue } from './delivery-queue.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const JOB = {
  id: text,
  message: text,
  type: text,
  body: text,
  webhook: text,
  host: text,
  url: orNull(text),
  secret: orNull(text),
  tries: integer,
  by_hand: flag,
  lease: integer,
};

/** Deliveries to the webhooks of accounts, for the shared dispatcher. */
export function changeDeliveryTable(db: Db): DeliveryQueue<DeliveryJob> {
  const { all } = sql(db);
  const jobsOf = all(
    `SELECT d.id, d.id AS message, d.type, d.body, d.alert AS webhook, d.host, a.url, a.secret, d.tries,
       d.by_hand, d.lease
     FROM change_deliveries d JOIN change_alerts a ON a.id = d.alert
     WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`,
    JOB,
  );
  return deliveryQueue(db, { deliveries: 'change_deliveries', attempts: 'change_attempts', webhook: 'alert' }, jobsOf);
}

/** The state of the webhooks of accounts. Their addresses never change, because a new address is a new alert. */
export function changeWebhookStates(db: Db): WebhookStates {
  const { run, one } = sql(db);
  const failed = one(
    `UPDATE change_alerts SET failing_since = coalesce(failing_since, ?2) WHERE id = ?1
     RETURNING failing_since AS since, off_at IS NOT NULL AS isOff`,
    { since: integer, isOff: flag },
  );
  const switchOff = run('UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE id = ?1');
  return {
    succeeded: run(
      'UPDATE change_alerts SET failing_since = NULL, off_at = NULL, off_reason = NULL WHERE id = ? AND (failing_since IS NOT NULL OR off_at IS NOT NULL)',
    ),
    failed: (id, _, at) => failed(id, at) ?? { since: at, isOff: false },
    switchOff(id, _, reason, at) {
      switchOff(id, reason, at);
    },
  };
}

import type { Consignment, DeliveryQueue } from '../readers/delivery.ts';
import type { WebhookStandings } from '../readers/webhook-table.ts';
import type { Db } from './open.ts';

/** Deliveries to the webhooks of accounts, as the readers' courier sends them. */
export function changeDeliveryTable(db: Db): DeliveryQueue<Consignment> {
  const due = db.prepare(
    `SELECT id, host FROM change_deliveries
     WHERE state = 'waiting' AND due_at <= ?1 AND host NOT IN (SELECT value FROM json_each(?3))
     ORDER BY due_at, id LIMIT ?2`,
  );
  // Whoever changes the row has it: no other process comes between.
  const claim = db.prepare(
    `UPDATE change_deliveries SET lease = ?3, due_at = ?3
     WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'waiting' AND due_at <= ?2 RETURNING id`,
  );
  const claimed = db.prepare(
    `SELECT d.id, d.id AS message, d.type, d.body, d.alert AS webhook, d.host, a.url, a.secret, d.tries, d.by_hand, d.lease
     FROM change_deliveries d JOIN change_alerts a ON a.id = d.alert
     WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`,
  );
  const settle = db.prepare(
    `UPDATE change_deliveries SET state = ?3, due_at = ?4, lease = NULL, tries = tries + 1
     WHERE id = ?1 AND state = 'waiting' AND lease = ?2`,
  );
  const attempt = db.prepare('INSERT INTO change_attempts (delivery, at, ms, status, error) VALUES (?, ?, ?, ?, ?)');
  const first = db.prepare('SELECT min(at) AS at FROM change_attempts WHERE delivery = ?');
  const giveUp = db.prepare(
    `UPDATE change_deliveries SET state = 'failed'
     WHERE alert = ?1 AND state = 'waiting' AND (lease IS NULL OR lease <= ?2)`,
  );
  return {
    due: (now, limit, except) => due.all(now, limit, JSON.stringify(except)) as { id: string; host: string }[],
    claim(ids, now, lease) {
      const taken = (claim.all(JSON.stringify(ids), now, lease) as { id: string }[]).map(({ id }) => id);
      if (taken.length === 0) return [];
      const rows = claimed.all(JSON.stringify(taken)) as (Omit<Consignment, 'by_hand'> & { by_hand: number })[];
      return rows.map((row) => ({ ...row, by_hand: row.by_hand === 1 }));
    },
    settle({ id, lease }, made, settlement) {
      const dueAt = settlement.state === 'waiting' ? settlement.due_at : made.at;
      if (settle.run(id, lease, settlement.state, dueAt).changes !== 1) return false;
      attempt.run(id, made.at, Math.round(made.ms), made.status, made.error);
      return true;
    },
    firstAttempt: (id) => (first.all(id) as { at: number | null }[])[0]?.at ?? null,
    giveUp(alert, now) {
      giveUp.run(alert, now);
    },
  };
}

/** How the webhooks of accounts do. Their addresses never change: another address is another alert. */
export function changeWebhookStandings(db: Db): WebhookStandings {
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

import type { DeliveryJob, DeliveryQueue } from '../readers/delivery.ts';
import type { Db } from './open.ts';

/** Where deliveries of one kind are kept: names of tables and columns, and what a courier is given of them. */
export interface DeliveryTables {
  deliveries: string;
  attempts: string;
  /** The column that names the webhook. */
  webhook: string;
  /** Selects what is sent, from deliveries `d`. */
  consignments: string;
}

/** Deliveries as a courier takes and settles them, whoever they are for. */
export function deliveryQueue<D extends DeliveryJob>(
  db: Db,
  { deliveries, attempts, webhook, consignments }: DeliveryTables,
): DeliveryQueue<D> {
  const due = db.prepare(
    `SELECT id, host FROM ${deliveries}
     WHERE state = 'waiting' AND due_at <= ?1 AND host NOT IN (SELECT value FROM json_each(?3))
     ORDER BY due_at, id LIMIT ?2`,
  );
  // Whoever changes the row has it: no other process comes between, and a lease that ran out is no longer due_at.
  const claim = db.prepare(
    `UPDATE ${deliveries} SET lease = ?3, due_at = ?3
     WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'waiting' AND due_at <= ?2
     RETURNING id`,
  );
  const claimed = db.prepare(`${consignments} WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`);
  const settle = db.prepare(
    `UPDATE ${deliveries} SET state = ?3, due_at = ?4, lease = NULL, tries = tries + 1
     WHERE id = ?1 AND state = 'waiting' AND lease = ?2`,
  );
  const attempt = db.prepare(`INSERT INTO ${attempts} (delivery, at, ms, status, error) VALUES (?, ?, ?, ?, ?)`);
  const first = db.prepare(`SELECT min(at) AS at FROM ${attempts} WHERE delivery = ?`);
  const giveUp = db.prepare(
    `UPDATE ${deliveries} SET state = 'failed'
     WHERE ${webhook} = ?1 AND state = 'waiting' AND (lease IS NULL OR lease <= ?2)`,
  );
  return {
    due: (now, limit, except) => due.all(now, limit, JSON.stringify(except)) as { id: string; host: string }[],
    claim(ids, now, lease) {
      const taken = (claim.all(JSON.stringify(ids), now, lease) as { id: string }[]).map(({ id }) => id);
      if (taken.length === 0) return [];
      const rows = claimed.all(JSON.stringify(taken)) as (Omit<D, 'by_hand'> & { by_hand: number })[];
      return rows.map((row) => ({ ...row, by_hand: row.by_hand === 1 }) as unknown as D);
    },
    settle({ id, lease }, made, settlement) {
      const dueAt = settlement.state === 'waiting' ? settlement.due_at : made.at;
      if (settle.run(id, lease, settlement.state, dueAt).changes !== 1) return false;
      attempt.run(id, made.at, Math.round(made.ms), made.status, made.error);
      return true;
    },
    firstAttempt: (id) => (first.all(id) as { at: number | null }[])[0]?.at ?? null,
    giveUp(id, now) {
      giveUp.run(id, now);
    },
  };
}

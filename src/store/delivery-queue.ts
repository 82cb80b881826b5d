import type { DeliveryJob, DeliveryQueue } from '../outbound/delivery.ts';
import { integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** The tables and columns that hold one kind of delivery. */
export interface DeliveryTables {
  deliveries: string;
  attempts: string;
  /** The column that names the webhook. */
  webhook: string;
}

/**
 * A queue of deliveries to any kind of webhook. `jobsOf` reads the claimed deliveries in the order of their ids, which
 * it receives as a JSON array.
 */
export function deliveryQueue<D extends DeliveryJob>(
  db: Db,
  { deliveries, attempts, webhook }: DeliveryTables,
  jobsOf: (ids: string) => D[],
): DeliveryQueue<D> {
  const { run, one, all } = sql(db);
  const due = all(
    `SELECT id, host FROM ${deliveries}
     WHERE state = 'waiting' AND due_at <= ?1 AND host NOT IN (SELECT value FROM json_each(?3))
     ORDER BY due_at, id LIMIT ?2`,
    { id: text, host: text },
  );
  // Only the process that updates the row has the claim. After its lease expires, the delivery is due again.
  const claim = all(
    `UPDATE ${deliveries} SET lease = ?3, due_at = ?3
     WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'waiting' AND due_at <= ?2
     RETURNING id`,
    text,
  );
  const settle = run(
    `UPDATE ${deliveries} SET state = ?3, due_at = ?4, lease = NULL, tries = tries + 1
     WHERE id = ?1 AND state = 'waiting' AND lease = ?2`,
  );
  const attempt = run(`INSERT INTO ${attempts} (delivery, at, ms, status, error) VALUES (?, ?, ?, ?, ?)`);
  return {
    due: (now, limit, except) => due(now, limit, JSON.stringify(except)),
    claim(ids, now, lease) {
      const taken = claim(JSON.stringify(ids), now, lease);
      return taken.length === 0 ? [] : jobsOf(JSON.stringify(taken));
    },
    settle({ id, lease }, made, settlement) {
      const dueAt = settlement.state === 'waiting' ? settlement.due_at : made.at;
      if (settle(id, lease, settlement.state, dueAt) !== 1) return false;
      attempt(id, made.at, Math.round(made.ms), made.status, made.error);
      return true;
    },
    firstAttempt: one(`SELECT min(at) FROM ${attempts} WHERE delivery = ?`, orNull(integer)),
    giveUp: run(
      `UPDATE ${deliveries} SET state = 'failed'
       WHERE ${webhook} = ?1 AND state = 'waiting' AND (lease IS NULL OR lease <= ?2)`,
    ),
  };
}

import type { Attempt, Claimed, DeliveryRecord, DeliveryTable } from '../readers/delivery.ts';
import { deliveryQueue } from './delivery-queue.ts';
import type { Db } from './open.ts';

type RecordRow = Omit<DeliveryRecord, 'by_hand' | 'of_subscriber' | 'attempts'> & {
  by_hand: number;
  of_subscriber: number;
};

const RECORD = `d.id, d.paper, d.message, m.type, d.webhook, d.host, d.state, d.due_at, d.by_hand, d.made_at,
  w.off_at, w.off_reason, w.subscriber IS NOT NULL AS of_subscriber`;
const JOINED = 'deliveries d JOIN messages m ON m.id = d.message JOIN webhooks w ON w.id = d.webhook';

/** What is sent to webhooks, and every attempt to do so. */
export function deliveryTable(db: Db): DeliveryTable {
  const keep = db.prepare('INSERT INTO messages (id, type, body, made_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const queue = db.prepare(
    `INSERT INTO deliveries (id, paper, message, webhook, host, state, due_at, by_hand, made_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', ?7, ?6, ?7) ON CONFLICT DO NOTHING`,
  );
  const courier = deliveryQueue<Claimed>(db, {
    deliveries: 'deliveries',
    attempts: 'attempts',
    webhook: 'webhook',
    consignments: `SELECT d.id, d.paper, d.message, m.type, m.body, d.webhook, d.host, coalesce(w.url, s.webhook) AS url,
        coalesce(w.secret, s.webhook_secret) AS secret, d.tries, d.by_hand, d.lease
      FROM ${JOINED} LEFT JOIN subscribers s ON s.id = w.subscriber AND s.confirmed_at IS NOT NULL`,
  });
  const retry = db.prepare(
    `UPDATE deliveries SET by_hand = by_hand OR state <> 'waiting', state = 'waiting', due_at = ?3, lease = NULL
     WHERE paper = ?1 AND id = ?2 AND (lease IS NULL OR lease <= ?3)`,
  );
  const known = db.prepare('SELECT 1 FROM deliveries WHERE paper = ? AND id = ?');
  const get = db.prepare(`SELECT ${RECORD} FROM ${JOINED} WHERE d.paper = ? AND d.id = ?`);
  const list = db.prepare(
    `SELECT ${RECORD} FROM ${JOINED}
     WHERE d.paper = ?1 AND d.id < ?2 AND d.state = coalesce(?4, d.state) AND d.webhook = coalesce(?5, d.webhook)
     ORDER BY d.id DESC LIMIT ?3`,
  );
  const attempts = db.prepare(
    'SELECT delivery, at, ms, status, error FROM attempts WHERE delivery IN (SELECT value FROM json_each(?)) ORDER BY n',
  );
  const waiting = db.prepare("SELECT count(*) AS count, min(due_at) AS next FROM deliveries WHERE state = 'waiting'");
  const forget = db.prepare(
    `DELETE FROM messages WHERE made_at <= ?
       AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message = messages.id AND d.state = 'waiting')`,
  );

  const recordsFrom = (rows: RecordRow[]): DeliveryRecord[] => {
    const made = attempts.all(JSON.stringify(rows.map(({ id }) => id))) as (Attempt & { delivery: string })[];
    return rows.map((row) => ({
      ...row,
      by_hand: row.by_hand === 1,
      of_subscriber: row.of_subscriber === 1,
      attempts: made
        .filter(({ delivery }) => delivery === row.id)
        .map(({ at, ms, status, error }) => ({ at, ms, status, error })),
    }));
  };

  return {
    ...courier,
    keepMessage({ id, type, body, made_at }) {
      keep.run(id, type, body, made_at);
    },
    queue: ({ id, paper, message, webhook, host, by_hand, made_at }) =>
      queue.run(id, paper, message, webhook, host, by_hand ? 1 : 0, made_at).changes === 1,
    retry(paper, id, now) {
      if (known.all(paper, id).length === 0) return false;
      retry.run(paper, id, now);
      return true;
    },
    get(paper, id) {
      const [record] = recordsFrom(get.all(paper, id) as RecordRow[]);
      return record ?? null;
    },
    list: (paper, { limit, after = '~', state = null, webhook = null }) =>
      recordsFrom(list.all(paper, after, limit, state, webhook) as RecordRow[]),
    waiting: () => (waiting.all() as { count: number; next: number | null }[])[0] ?? { count: 0, next: null },
    forget(until) {
      forget.run(until);
    },
  };
}

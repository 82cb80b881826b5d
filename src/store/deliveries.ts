import type { Attempt } from '../outbound/delivery.ts';
import { DELIVERY_STATES, OFF_REASONS } from '../outbound/delivery.ts';
import type { DeliveryRecord, DeliveryTable, PaperDeliveryJob } from '../readers/delivery.ts';
import { flag, integer, oneOf, orNull, text } from './columns.ts';
import { deliveryQueue } from './delivery-queue.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const JOINED = 'deliveries d JOIN messages m ON m.id = d.message JOIN webhooks w ON w.id = d.webhook';

const JOB = {
  id: text,
  paper: text,
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

const RECORD = {
  id: text,
  paper: text,
  message: text,
  type: text,
  webhook: text,
  host: text,
  state: oneOf(...DELIVERY_STATES),
  due_at: integer,
  by_hand: flag,
  made_at: integer,
  off_at: orNull(integer),
  off_reason: orNull(oneOf(...OFF_REASONS)),
  of_subscriber: flag,
};
const RECORDS = `SELECT d.id, d.paper, d.message, m.type, d.webhook, d.host, d.state, d.due_at, d.by_hand, d.made_at,
    w.off_at, w.off_reason, w.subscriber IS NOT NULL AS of_subscriber
  FROM ${JOINED}`;

/** Deliveries to webhooks, and every attempt at them. */
export function deliveryTable(db: Db): DeliveryTable {
  const { run, one, all } = sql(db);
  const keep = run('INSERT INTO messages (id, type, body, made_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const queue = run(
    `INSERT INTO deliveries (id, paper, message, webhook, host, state, due_at, by_hand, made_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', ?7, ?6, ?7) ON CONFLICT DO NOTHING`,
  );
  const jobsOf = all(
    `SELECT d.id, d.paper, d.message, m.type, m.body, d.webhook, d.host, coalesce(w.url, s.webhook) AS url,
       coalesce(w.secret, s.webhook_secret) AS secret, d.tries, d.by_hand, d.lease
     FROM ${JOINED} LEFT JOIN subscribers s ON s.id = w.subscriber AND s.confirmed_at IS NOT NULL
     WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`,
    JOB,
  );
  const retry = run(
    `UPDATE deliveries SET by_hand = by_hand OR state <> 'waiting', state = 'waiting', due_at = ?3, lease = NULL
     WHERE paper = ?1 AND id = ?2 AND (lease IS NULL OR lease <= ?3)`,
  );
  const known = one('SELECT 1 FROM deliveries WHERE paper = ? AND id = ?', integer);
  const get = all(`${RECORDS} WHERE d.paper = ? AND d.id = ?`, RECORD);
  const list = all(
    `${RECORDS}
     WHERE d.paper = ?1 AND d.id < ?2 AND d.state = coalesce(?4, d.state) AND d.webhook = coalesce(?5, d.webhook)
     ORDER BY d.id DESC LIMIT ?3`,
    RECORD,
  );
  const attempts = all(
    'SELECT delivery, at, ms, status, error FROM attempts WHERE delivery IN (SELECT value FROM json_each(?)) ORDER BY n',
    { delivery: text, at: integer, ms: integer, status: orNull(integer), error: orNull(text) },
  );
  const waiting = one("SELECT count(*) AS count, min(due_at) AS next FROM deliveries WHERE state = 'waiting'", {
    count: integer,
    next: orNull(integer),
  });

  const withAttempts = (rows: Omit<DeliveryRecord, 'attempts'>[]): DeliveryRecord[] => {
    const made = new Map<string, Attempt[]>(rows.map(({ id }) => [id, []]));
    for (const { delivery, ...attempt } of attempts(JSON.stringify([...made.keys()])))
      made.get(delivery)?.push(attempt);
    return rows.map((row) => ({ ...row, attempts: made.get(row.id) ?? [] }));
  };

  return {
    ...deliveryQueue<PaperDeliveryJob>(
      db,
      { deliveries: 'deliveries', attempts: 'attempts', webhook: 'webhook' },
      jobsOf,
    ),
    keepMessage({ id, type, body, made_at }) {
      keep(id, type, body, made_at);
    },
    queue: ({ id, paper, message, webhook, host, by_hand, made_at }) =>
      queue(id, paper, message, webhook, host, by_hand ? 1 : 0, made_at) === 1,
    retry(paper, id, now) {
      if (known(paper, id) === null) return false;
      retry(paper, id, now);
      return true;
    },
    get: (paper, id) => withAttempts(get(paper, id))[0] ?? null,
    list: (paper, { limit, after = '~', state = null, webhook = null }) =>
      withAttempts(list(paper, after, limit, state, webhook)),
    waiting: () => waiting() ?? { count: 0, next: null },
    forgetPiece: run(
      `DELETE FROM messages WHERE id IN (SELECT id FROM events WHERE paper = ? AND piece = ?
         AND type IN ('story.aired', 'story.revised', 'story.withdrawn'))`,
    ),
    forget: run(
      `DELETE FROM messages WHERE made_at <= ?
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message = messages.id AND d.state = 'waiting')`,
    ),
  };
}

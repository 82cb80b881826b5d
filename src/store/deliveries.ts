import type { DeliveryRecord, DeliveryTable, PaperDeliveryJob } from '../desk/readers/delivery.ts';
import type { WebhookTable } from '../desk/readers/webhook.ts';
import {
  type Attempt,
  DELIVERY_STATES,
  type DeliveryJob,
  type DeliveryQueue,
  OFF_REASONS,
} from '../shared/outbound/delivery.ts';
import { columnsOf, type Db, flag, integer, json, oneOf, orNull, sql, text } from '../shared/sql/sql.ts';

/** A leased delivery. */
export const JOB = {
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

/**
 * A queue of deliveries to one kind of webhook, in the given tables. `webhook` is the column with the webhook's id, and
 * `isReady` a condition on a row `d` for when it may be sent. `jobsOf` reads the leased deliveries, sorted by id; it
 * receives the ids as a JSON array.
 */
export function deliveryQueue<D extends DeliveryJob>(
  db: Db,
  {
    deliveries,
    attempts,
    webhook,
    isReady = 'TRUE',
  }: { deliveries: string; attempts: string; webhook: string; isReady?: string },
  jobsOf: (ids: string) => D[],
): DeliveryQueue<D> {
  const { run, changed, one, all } = sql(db);
  const due = all(
    `SELECT id, host FROM ${deliveries} d
     WHERE state = 'waiting' AND due_at <= ?1 AND host NOT IN (SELECT value FROM json_each(?3)) AND (${isReady})
     ORDER BY due_at, id LIMIT ?2`,
    { id: text, host: text },
  );
  // Only the process that updates the row has the lease. After it expires, the delivery is due again.
  const leaseRows = all(
    `UPDATE ${deliveries} SET lease = ?3, due_at = ?3
     WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'waiting' AND due_at <= ?2
     RETURNING id`,
    text,
  );
  const settle = changed(
    `UPDATE ${deliveries} SET state = ?3, due_at = ?4, lease = NULL, tries = tries + 1
     WHERE id = ?1 AND state = 'waiting' AND lease = ?2`,
  );
  const attempt = run(`INSERT INTO ${attempts} (delivery, at, ms, status, error) VALUES (?, ?, ?, ?, ?)`);
  return {
    due: (now, limit, except) => due(now, limit, JSON.stringify(except)),
    lease(ids, now, lease) {
      const taken = leaseRows(JSON.stringify(ids), now, lease);
      return taken.length === 0 ? [] : jobsOf(JSON.stringify(taken));
    },
    settle({ id, lease }, made, settlement) {
      const dueAt = settlement.state === 'waiting' ? settlement.due_at : made.at;
      if (!settle(id, lease, settlement.state, dueAt)) return false;
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

const JOINED = 'deliveries d JOIN messages m ON m.id = d.message JOIN webhooks w ON w.id = d.webhook';

const PAPER_JOB = { ...JOB, paper: text, old_secret: orNull(text), old_secret_until: orNull(integer) };

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
  const { run, insert, one, has, all } = sql(db);
  const queue = insert(
    'deliveries',
    ['id', 'paper', 'message', 'webhook', 'host', 'state', 'due_at', 'by_hand', 'made_at'],
    'ON CONFLICT DO NOTHING',
  );
  const jobsOf = all(
    `SELECT d.id, d.paper, d.message, m.type, m.body, d.webhook, d.host, coalesce(w.url, s.webhook) AS url,
       coalesce(w.secret, s.webhook_secret) AS secret, w.old_secret, w.old_secret_until, d.tries, d.by_hand, d.lease
     FROM ${JOINED} LEFT JOIN subscribers s ON s.id = w.subscriber AND s.confirmed_at IS NOT NULL
     WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`,
    PAPER_JOB,
  );
  const retry = run(
    `UPDATE deliveries SET by_hand = by_hand OR state <> 'waiting', state = 'waiting', due_at = ?3, lease = NULL
     WHERE paper = ?1 AND id = ?2 AND (lease IS NULL OR lease <= ?3)`,
  );
  const known = has('SELECT 1 FROM deliveries WHERE paper = ? AND id = ?');
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
    keepMessage: insert('messages', ['id', 'type', 'body', 'made_at'], 'ON CONFLICT DO NOTHING'),
    queue: (delivery) => queue({ ...delivery, state: 'waiting', due_at: delivery.made_at }) === 1,
    retry(paper, id, now) {
      if (!known(paper, id)) return false;
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

const offReason = oneOf(...OFF_REASONS);

const WEBHOOK = {
  id: text,
  paper: text,
  url: text,
  secret: text,
  sections: orNull(json<string[]>()),
  cast: flag,
  made_at: integer,
  failing_since: orNull(integer),
  off_at: orNull(integer),
  off_reason: orNull(offReason),
  paused_at: orNull(integer),
  succeeded_at: orNull(integer),
  failed_at: orNull(integer),
  old_secret_until: orNull(integer),
};
const WEBHOOKS = `SELECT ${columnsOf(WEBHOOK)},
    (SELECT count(*) FROM deliveries d WHERE d.webhook = webhooks.id AND d.state = 'waiting') AS waiting
  FROM webhooks WHERE paper = ?`;
const LISTED = { ...WEBHOOK, waiting: integer };

/** Webhooks: those of the desk, and those of subscribers, whose addresses are stored in the subscribers' rows. */
export function webhookTable(db: Db): WebhookTable {
  const { run, changed, insert, one, all } = sql(db);
  const receivers = all(
    `SELECT w.id, coalesce(w.url, s.webhook) AS url
     FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
     WHERE w.paper = ?1 AND w.id > ?3
       AND (w.subscriber IS NULL OR (s.confirmed_at IS NOT NULL AND s.webhook IS NOT NULL AND s.webhook_secret IS NOT NULL))
       AND w.paused_at IS NULL AND (w.off_at IS NULL OR w.off_url <> coalesce(w.url, s.webhook))
       AND CASE WHEN ?2 IS NULL THEN coalesce(w."cast", s."cast") = 1
         ELSE coalesce(w.sections, s.sections) IS NULL
           OR EXISTS (SELECT 1 FROM json_each(coalesce(w.sections, s.sections)) c WHERE c.value IN (SELECT value FROM json_each(?2)))
         END
     ORDER BY w.id LIMIT ?4`,
    { id: text, url: text },
  );
  // A changed address starts without failures, and switched on.
  const change = run(
    `UPDATE webhooks SET sections = ?4, "cast" = ?5, url = ?3,
       failing_since = iif(url = ?3, failing_since, NULL), off_at = iif(url = ?3, off_at, NULL),
       off_reason = iif(url = ?3, off_reason, NULL), off_url = iif(url = ?3, off_url, NULL)
     WHERE paper = ?1 AND id = ?2 AND subscriber IS NULL`,
  );
  const failed = one(
    `UPDATE webhooks SET failing_since = coalesce(failing_since, ?3), failed_at = ?3 WHERE id = ?1
     RETURNING failing_since AS since, paused_at IS NOT NULL OR (off_at IS NOT NULL AND off_url IS ?2) AS isOff`,
    { since: integer, isOff: flag },
  );
  return {
    add: insert('webhooks', ['id', 'paper', 'url', 'secret', 'sections', 'cast', 'made_at']),
    remove: changed('DELETE FROM webhooks WHERE paper = ? AND id = ? AND subscriber IS NULL'),
    list: all(`${WEBHOOKS} AND subscriber IS NULL ORDER BY id`, LISTED),
    get: one(`${WEBHOOKS} AND id = ? AND subscriber IS NULL`, LISTED),
    register: run(
      `INSERT INTO webhooks (id, paper, subscriber, made_at)
       SELECT id, paper, id, ?2 FROM subscribers
       WHERE paper = ?1 AND webhook IS NOT NULL AND webhook_secret IS NOT NULL AND confirmed_at IS NOT NULL
       ON CONFLICT DO NOTHING`,
    ),
    receivers: (paper, sections, after, limit) =>
      receivers(paper, sections === null ? null : JSON.stringify(sections), after, limit),
    receiver: one(
      `SELECT w.id, coalesce(w.url, s.webhook) AS url FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
       WHERE w.paper = ? AND w.id = ? AND (w.subscriber IS NULL OR (s.confirmed_at IS NOT NULL AND s.webhook IS NOT NULL))`,
      { id: text, url: text },
    ),
    offSince: all(
      `SELECT w.id, w.off_url AS url, w.off_reason, w.subscriber IS NOT NULL AS of_subscriber
       FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
       WHERE w.paper = ? AND w.off_at >= ? AND w.off_url = coalesce(w.url, s.webhook) ORDER BY w.id`,
      { id: text, url: text, off_reason: offReason, of_subscriber: flag },
    ),
    succeeded: run(
      'UPDATE webhooks SET succeeded_at = ?2, failing_since = NULL, off_at = NULL, off_reason = NULL, off_url = NULL WHERE id = ?1',
    ),
    change(paper, id, { url, sections, cast }) {
      change(paper, id, url, sections === null ? null : JSON.stringify(sections), cast ? 1 : 0);
    },
    pause: changed(
      `UPDATE webhooks SET paused_at = ?3
       WHERE paper = ?1 AND id = ?2 AND subscriber IS NULL AND (paused_at IS NULL) = (?3 IS NOT NULL)`,
    ),
    replaceSecret: run(
      `UPDATE webhooks SET old_secret = secret, old_secret_until = ?4, secret = ?3
       WHERE paper = ?1 AND id = ?2 AND subscriber IS NULL`,
    ),
    failed: (id, url, at) => failed(id, url, at) ?? { since: at, isOff: false },
    switchOff: run('UPDATE webhooks SET off_at = ?4, off_reason = ?3, off_url = ?2 WHERE id = ?1'),
  };
}

import { OFF_REASONS } from '../outbound/delivery.ts';
import type { WebhookTable } from '../readers/webhook-table.ts';
import { flag, integer, json, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

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
};
const COLUMNS = 'id, paper, url, secret, sections, "cast", made_at, failing_since, off_at, off_reason';

/** Webhooks: those of the desk, and those of subscribers, whose addresses are stored in the subscribers' rows. */
export function webhookTable(db: Db): WebhookTable {
  const { run, one, all } = sql(db);
  const add = run(
    'INSERT INTO webhooks (id, paper, url, secret, sections, "cast", made_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = run('DELETE FROM webhooks WHERE paper = ? AND id = ? AND subscriber IS NULL');
  const register = run(
    `INSERT INTO webhooks (id, paper, subscriber, made_at)
     SELECT id, paper, id, ?2 FROM subscribers
     WHERE paper = ?1 AND webhook IS NOT NULL AND webhook_secret IS NOT NULL AND confirmed_at IS NOT NULL
     ON CONFLICT DO NOTHING`,
  );
  const receivers = all(
    `SELECT w.id, coalesce(w.url, s.webhook) AS url
     FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
     WHERE w.paper = ?1 AND w.id > ?3
       AND (w.subscriber IS NULL OR (s.confirmed_at IS NOT NULL AND s.webhook IS NOT NULL AND s.webhook_secret IS NOT NULL))
       AND (w.off_at IS NULL OR w.off_url <> coalesce(w.url, s.webhook))
       AND CASE WHEN ?2 IS NULL THEN coalesce(w."cast", s."cast") = 1
         ELSE coalesce(w.sections, s.sections) IS NULL
           OR EXISTS (SELECT 1 FROM json_each(coalesce(w.sections, s.sections)) c WHERE c.value IN (SELECT value FROM json_each(?2)))
         END
     ORDER BY w.id LIMIT ?4`,
    { id: text, url: text },
  );
  const failed = one(
    `UPDATE webhooks SET failing_since = coalesce(failing_since, ?3) WHERE id = ?1
     RETURNING failing_since AS since, off_at IS NOT NULL AND off_url IS ?2 AS isOff`,
    { since: integer, isOff: flag },
  );
  const switchOff = run('UPDATE webhooks SET off_at = ?, off_reason = ?, off_url = ? WHERE id = ?');
  return {
    add({ id, paper, url, secret, sections, cast, made_at }) {
      add(id, paper, url, secret, sections === null ? null : JSON.stringify(sections), cast ? 1 : 0, made_at);
    },
    remove: (paper, id) => remove(paper, id) === 1,
    list: all(`SELECT ${COLUMNS} FROM webhooks WHERE paper = ? AND subscriber IS NULL ORDER BY id`, WEBHOOK),
    get: one(`SELECT ${COLUMNS} FROM webhooks WHERE paper = ? AND id = ? AND subscriber IS NULL`, WEBHOOK),
    register,
    receivers: ({ paper, sections }, after, limit) =>
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
      'UPDATE webhooks SET failing_since = NULL, off_at = NULL, off_reason = NULL, off_url = NULL WHERE id = ? AND (failing_since IS NOT NULL OR off_at IS NOT NULL)',
    ),
    failed: (id, url, at) => failed(id, url, at) ?? { since: at, isOff: false },
    switchOff(id, url, reason, at) {
      switchOff(at, reason, url, id);
    },
  };
}

import type { OffReason, Receiver, Webhook, WebhookOff, WebhookState, WebhookTable } from '../readers/webhook-table.ts';
import type { Db } from './open.ts';

type Kept = Webhook & WebhookState;

interface Row extends Omit<Kept, 'sections' | 'cast'> {
  sections: string | null;
  cast: number;
}

const COLUMNS = 'id, paper, url, secret, sections, "cast", made_at, failing_since, off_at, off_reason';

/** Who is told over HTTP: the desk's own, and those of subscribers, whose addresses stand in their rows. */
export function webhookTable(db: Db): WebhookTable {
  const add = db.prepare(
    'INSERT INTO webhooks (id, paper, url, secret, sections, "cast", made_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = db.prepare('DELETE FROM webhooks WHERE paper = ? AND id = ? AND subscriber IS NULL');
  const list = db.prepare(`SELECT ${COLUMNS} FROM webhooks WHERE paper = ? AND subscriber IS NULL ORDER BY id`);
  const get = db.prepare(`SELECT ${COLUMNS} FROM webhooks WHERE paper = ? AND id = ? AND subscriber IS NULL`);
  const register = db.prepare(
    `INSERT INTO webhooks (id, paper, subscriber, made_at)
     SELECT id, paper, id, ?2 FROM subscribers
     WHERE paper = ?1 AND webhook IS NOT NULL AND webhook_secret IS NOT NULL AND confirmed_at IS NOT NULL
     ON CONFLICT DO NOTHING`,
  );
  const receivers = db.prepare(
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
  );
  const receiver = db.prepare(
    `SELECT w.id, coalesce(w.url, s.webhook) AS url FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
     WHERE w.paper = ? AND w.id = ? AND (w.subscriber IS NULL OR (s.confirmed_at IS NOT NULL AND s.webhook IS NOT NULL))`,
  );
  const offSince = db.prepare(
    `SELECT w.id, w.off_url AS url, w.off_reason, w.subscriber IS NOT NULL AS of_subscriber
     FROM webhooks w LEFT JOIN subscribers s ON s.id = w.subscriber
     WHERE w.paper = ? AND w.off_at >= ? AND w.off_url = coalesce(w.url, s.webhook) ORDER BY w.id`,
  );
  const took = db.prepare(
    'UPDATE webhooks SET failing_since = NULL, off_at = NULL, off_reason = NULL, off_url = NULL WHERE id = ? AND (failing_since IS NOT NULL OR off_at IS NOT NULL)',
  );
  const failed = db.prepare(
    `UPDATE webhooks SET failing_since = coalesce(failing_since, ?3) WHERE id = ?1
     RETURNING failing_since, off_at IS NOT NULL AND off_url = ?2 AS is_off`,
  );
  const off = db.prepare('UPDATE webhooks SET off_at = ?, off_reason = ?, off_url = ? WHERE id = ?');
  return {
    add({ id, paper, url, secret, sections, cast, made_at }) {
      add.run(id, paper, url, secret, sections === null ? null : JSON.stringify(sections), cast ? 1 : 0, made_at);
    },
    remove: (paper, id) => remove.run(paper, id).changes === 1,
    list: (paper) => (list.all(paper) as Row[]).map(webhookFrom),
    get(paper, id) {
      const [row] = get.all(paper, id) as Row[];
      return row === undefined ? null : webhookFrom(row);
    },
    register(paper, at) {
      register.run(paper, at);
    },
    receivers: ({ paper, sections }, after, limit) =>
      receivers.all(paper, sections === null ? null : JSON.stringify(sections), after, limit) as Receiver[],
    receiver: (paper, id) => (receiver.all(paper, id) as Receiver[])[0] ?? null,
    offSince: (paper, at) =>
      (offSince.all(paper, at) as (Omit<WebhookOff, 'of_subscriber'> & { of_subscriber: number })[]).map((row) => ({
        ...row,
        of_subscriber: row.of_subscriber === 1,
      })),
    took(id) {
      took.run(id);
    },
    failed(id, url, at) {
      const [row] = failed.all(id, url, at) as { failing_since: number; is_off: number }[];
      return { since: row?.failing_since ?? at, isOff: row?.is_off === 1 };
    },
    switchOff(id, url, reason: OffReason, at) {
      off.run(at, reason, url, id);
    },
  };
}

function webhookFrom({ sections, cast, ...row }: Row): Kept {
  return { ...row, sections: sections === null ? null : (JSON.parse(sections) as string[]), cast: cast === 1 };
}

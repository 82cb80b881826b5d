import type { Cadence, Choices, Subscriber, SubscriberTable } from '../readers/subscriber.ts';
import type { Db } from './open.ts';

const COLUMNS =
  'id, paper, reader, email, cadence, sections, "cast", asked, made_at, ordered_at, mailed_at, confirmed_at, last_sent_at, webhook, webhook_secret';

interface Row {
  id: string;
  paper: string;
  reader: string;
  email: string;
  cadence: Cadence;
  sections: string | null;
  cast: number;
  asked: string | null;
  made_at: number;
  ordered_at: number;
  mailed_at: number | null;
  confirmed_at: number | null;
  last_sent_at: number | null;
  webhook: string | null;
  webhook_secret: string | null;
}

/** Readers who ordered alerts by mail. */
export function subscriberTable(db: Db): SubscriberTable {
  const put = db.prepare(
    `INSERT INTO subscribers (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET email = excluded.email, cadence = excluded.cadence, sections = excluded.sections,
       "cast" = excluded."cast", asked = excluded.asked, ordered_at = excluded.ordered_at, mailed_at = excluded.mailed_at,
       confirmed_at = excluded.confirmed_at, last_sent_at = excluded.last_sent_at, webhook = excluded.webhook,
       webhook_secret = excluded.webhook_secret`,
  );
  const of = db.prepare(`SELECT ${COLUMNS} FROM subscribers WHERE paper = ? AND reader = ?`);
  const byId = db.prepare(`SELECT ${COLUMNS} FROM subscribers WHERE id = ?`);
  const remove = db.prepare('DELETE FROM subscribers WHERE id = ?');
  const counts = db.prepare(
    'SELECT count(*) AS total, count(confirmed_at) AS confirmed FROM subscribers WHERE paper = ?',
  );
  const list = db.prepare(`SELECT ${COLUMNS} FROM subscribers WHERE paper = ? AND id > ? ORDER BY id LIMIT ?`);
  const told = db.prepare('UPDATE subscribers SET last_sent_at = ? WHERE id = ?');
  const forget = db.prepare('DELETE FROM subscribers WHERE confirmed_at IS NULL AND ordered_at <= ?');
  const forgetAsked = db.prepare('UPDATE subscribers SET asked = NULL WHERE asked IS NOT NULL AND ordered_at <= ?');
  return {
    put(row) {
      put.run(
        row.id,
        row.paper,
        row.reader,
        row.email,
        row.cadence,
        row.sections === null ? null : JSON.stringify(row.sections),
        row.cast ? 1 : 0,
        row.asked === null ? null : JSON.stringify(row.asked),
        row.made_at,
        row.ordered_at,
        row.mailed_at,
        row.confirmed_at,
        row.last_sent_at,
        row.webhook,
        row.webhook_secret,
      );
    },
    of: (paper, reader) => first(of.all(paper, reader)),
    byId: (id) => first(byId.all(id)),
    remove(id) {
      remove.run(id);
    },
    counts(paper) {
      const { total, confirmed } = counts.get(paper) as { total: number; confirmed: number };
      return { total, confirmed };
    },
    list: (paper, { limit, after = '' }) => (list.all(paper, after, limit) as Row[]).map(subscriberFrom),
    told(id, at) {
      told.run(at, id);
    },
    forget(until) {
      forget.run(until);
      forgetAsked.run(until);
    },
  };
}

function first(rows: unknown[]): Subscriber | null {
  const [row] = rows as Row[];
  return row === undefined ? null : subscriberFrom(row);
}

function subscriberFrom({ sections, cast, asked, ...row }: Row): Subscriber {
  return {
    ...row,
    sections: sections === null ? null : (JSON.parse(sections) as string[]),
    cast: cast === 1,
    asked: asked === null ? null : (JSON.parse(asked) as Choices),
  };
}

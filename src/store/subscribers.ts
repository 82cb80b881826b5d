import type { Choices, SubscriberTable } from '../readers/subscriber.ts';
import { CADENCES } from '../readers/subscriber.ts';
import { flag, integer, json, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const COLUMNS =
  'id, paper, reader, email, cadence, sections, "cast", asked, made_at, ordered_at, mailed_at, confirmed_at, last_sent_at, webhook, webhook_secret';

const SUBSCRIBER = {
  id: text,
  paper: text,
  reader: text,
  email: text,
  cadence: oneOf(...CADENCES),
  sections: orNull(json<string[]>()),
  cast: flag,
  asked: orNull(json<Choices>()),
  made_at: integer,
  ordered_at: integer,
  mailed_at: orNull(integer),
  confirmed_at: orNull(integer),
  last_sent_at: orNull(integer),
  webhook: orNull(text),
  webhook_secret: orNull(text),
};

/** Readers who subscribed to alerts by mail. */
export function subscriberTable(db: Db): SubscriberTable {
  const { run, one, all } = sql(db);
  const put = run(
    `INSERT INTO subscribers (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET email = excluded.email, cadence = excluded.cadence, sections = excluded.sections,
       "cast" = excluded."cast", asked = excluded.asked, ordered_at = excluded.ordered_at, mailed_at = excluded.mailed_at,
       confirmed_at = excluded.confirmed_at, last_sent_at = excluded.last_sent_at, webhook = excluded.webhook,
       webhook_secret = excluded.webhook_secret`,
  );
  const counts = one('SELECT count(*) AS total, count(confirmed_at) AS confirmed FROM subscribers WHERE paper = ?', {
    total: integer,
    confirmed: integer,
  });
  const list = all(`SELECT ${COLUMNS} FROM subscribers WHERE paper = ? AND id > ? ORDER BY id LIMIT ?`, SUBSCRIBER);
  const told = run('UPDATE subscribers SET last_sent_at = ? WHERE id = ?');
  const forget = run('DELETE FROM subscribers WHERE confirmed_at IS NULL AND ordered_at <= ?');
  const forgetAsked = run('UPDATE subscribers SET asked = NULL WHERE asked IS NOT NULL AND ordered_at <= ?');
  return {
    put(row) {
      put(
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
    of: one(`SELECT ${COLUMNS} FROM subscribers WHERE paper = ? AND reader = ?`, SUBSCRIBER),
    byId: one(`SELECT ${COLUMNS} FROM subscribers WHERE id = ?`, SUBSCRIBER),
    remove: run('DELETE FROM subscribers WHERE id = ?'),
    counts: (paper) => counts(paper) ?? { total: 0, confirmed: 0 },
    list: (paper, { limit, after = '' }) => list(paper, after, limit),
    markMailed(id, at) {
      told(at, id);
    },
    forget(until) {
      forget(until);
      forgetAsked(until);
    },
  };
}

import type { ReaderTables } from '../../desk/readers/subscribe.ts';
import {
  ASKED_KEPT,
  type AskedMailboxTable,
  CADENCES,
  type Choices,
  type SubscriberTable,
  type SuppressionTable,
} from '../../desk/readers/subscriber.ts';
import type { TokenTable } from '../../desk/readers/token.ts';
import { dayOf } from '../../proof/time.ts';
import { columnsOf, type Db, flag, integer, json, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';
import { mailTable } from '../mails.ts';

const SUBSCRIBED = {
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
const SUBSCRIBER = { id: text, ...SUBSCRIBED };
const DAY = { day: text, confirmed: integer, gone: integer };
const TOKEN = {
  hash: text,
  paper: text,
  reader: text,
  purpose: oneOf('confirm', 'manage'),
  expires_at: orNull(integer),
  used_at: orNull(integer),
};
const SUPPRESSION = {
  paper: text,
  reader: text,
  email: orNull(text),
  reason: oneOf('unsubscribed', 'complained', 'bounced', 'by_hand'),
  at: integer,
  mailed_at: orNull(integer),
};

/** Readers, their subscriptions, and the mails to them. */
export function readerTables(db: Db): ReaderTables {
  return {
    subscribers: subscriberTable(db),
    askedMailboxes: askedMailboxTable(db),
    suppressions: suppressionTable(db),
    tokens: tokenTable(db),
    mails: mailTable(db),
  };
}

/** Readers who subscribed to alerts by mail. */
function subscriberTable(db: Db): SubscriberTable {
  const { run, upsert, one, all } = sql(db);
  const SELECT = `SELECT ${columnsOf(SUBSCRIBER)} FROM subscribers`;
  const counts = one('SELECT count(*) AS total, count(confirmed_at) AS confirmed FROM subscribers WHERE paper = ?', {
    total: integer,
    confirmed: integer,
  });
  const list = all(`${SELECT} WHERE paper = ? AND id > ? ORDER BY id LIMIT ?`, SUBSCRIBER);
  // Scans the addresses in a covering index, and then reads only the matching rows.
  const searchWith = (filters: string) =>
    all(
      `${SELECT} WHERE id IN (SELECT id FROM subscribers INDEXED BY subscribers_addresses
         WHERE paper = ? AND id > ? ${filters} ORDER BY id LIMIT ?) ORDER BY id`,
      SUBSCRIBER,
    );
  const LIKE = `AND email LIKE ? ESCAPE '\\'`;
  const STATES = ['', 'AND confirmed_at IS NULL', 'AND confirmed_at IS NOT NULL'];
  const searches = STATES.map((state) => ({ all: searchWith(state), like: searchWith(`${LIKE} ${state}`) }));
  const left = run(
    `INSERT INTO reader_days (paper, day, confirmed, gone)
     SELECT paper, ?2, 0, 1 FROM subscribers WHERE id = ?1 AND confirmed_at IS NOT NULL
     ON CONFLICT (paper, day) DO UPDATE SET gone = gone + 1`,
  );
  const remove = run('DELETE FROM subscribers WHERE id = ?');
  const forget = run('DELETE FROM subscribers WHERE confirmed_at IS NULL AND ordered_at <= ?');
  const forgetAsked = run('UPDATE subscribers SET asked = NULL WHERE asked IS NOT NULL AND ordered_at <= ?');
  return {
    put: upsert('subscribers', ['id'], SUBSCRIBED),
    of: one(`${SELECT} WHERE paper = ? AND reader = ?`, SUBSCRIBER),
    byId: one(`${SELECT} WHERE id = ?`, SUBSCRIBER),
    remove(id, at) {
      left(id, dayOf(at));
      remove(id);
    },
    counts: (paper) => counts(paper) ?? { total: 0, confirmed: 0 },
    list(paper, { limit, after = '', q, confirmed }) {
      if (q === undefined && confirmed === undefined) return list(paper, after, limit);
      const search = searches[confirmed === undefined ? 0 : confirmed ? 2 : 1];
      if (q === undefined) return search?.all(paper, after, limit) ?? [];
      return search?.like(paper, after, `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`, limit) ?? [];
    },
    days: all(
      'SELECT day, confirmed, gone FROM reader_days WHERE paper = ? AND day >= ? ORDER BY day',
      DAY,
      ({ gone, ...row }) => ({
        ...row,
        left: gone,
      }),
    ),
    markMailed: run('UPDATE subscribers SET last_sent_at = ?2 WHERE id = ?1'),
    forget(until) {
      forget(until);
      forgetAsked(until);
    },
  };
}

/** Requests for confirmation that were not answered, by the hash of the mailbox. */
function askedMailboxTable(db: Db): AskedMailboxTable {
  const { run, one } = sql(db);
  const of = one(
    `SELECT count(*) AS total, count(*) FILTER (WHERE paper = ?2) AS count,
       coalesce(min(at) FILTER (WHERE paper = ?2), 0) AS first_at, coalesce(max(at) FILTER (WHERE paper = ?2), 0) AS last_at
     FROM asked_mailboxes WHERE mailbox = ?1 AND at > ?3 AND at < ?4`,
    { total: integer, count: integer, first_at: integer, last_at: integer },
  );
  return {
    note: run('INSERT INTO asked_mailboxes (mailbox, paper, at) VALUES (?, ?, ?)'),
    of: (mailbox, paper, now) =>
      of(mailbox, paper, now - ASKED_KEPT, now + ASKED_KEPT) ?? { total: 0, count: 0, first_at: 0, last_at: 0 },
    clear: run('DELETE FROM asked_mailboxes WHERE mailbox = ?'),
    forget: run('DELETE FROM asked_mailboxes WHERE at <= ?'),
  };
}

/** Addresses that must not receive mail. */
function suppressionTable(db: Db): SuppressionTable {
  const { run, upsert, one } = sql(db);
  return {
    of: one(`SELECT ${columnsOf(SUPPRESSION)} FROM suppressions WHERE paper = ? AND reader = ?`, SUPPRESSION),
    put: upsert('suppressions', ['paper', 'reader'], ['email', 'reason', 'at', 'mailed_at']),
    lift: run('DELETE FROM suppressions WHERE paper = ? AND reader = ?'),
  };
}

/** Tokens of links in mails. The table stores a hash of each token, never the token. */
function tokenTable(db: Db): TokenTable {
  const { run, changed, insert, one } = sql(db);
  const drop = run('DELETE FROM reader_tokens WHERE paper = ?1 AND reader = ?2 AND (?3 IS NULL OR purpose = ?3)');
  return {
    keep: insert('reader_tokens', TOKEN, 'ON CONFLICT DO NOTHING'),
    get: one(`SELECT ${columnsOf(TOKEN)} FROM reader_tokens WHERE hash = ?`, TOKEN),
    use: changed('UPDATE reader_tokens SET used_at = ?2 WHERE hash = ?1 AND used_at IS NULL'),
    drop: (paper, reader, purpose) => void drop(paper, reader, purpose ?? null),
    forget: run('DELETE FROM reader_tokens WHERE expires_at <= ?'),
  };
}

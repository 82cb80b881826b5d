import type { AnswerTable } from '../../desk/papers/answers.ts';
import { type HostTable, hostKey, type PaperHost } from '../../desk/papers/host.ts';
import { PREVIEWS_MAX, type PreviewTable } from '../../desk/papers/preview-link.ts';
import type { TermsTable } from '../../desk/papers/terms.ts';
import { columnsOf, type Db, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

// Small tables of the desk that are not part of the ledger.

/** Stored responses to writes, by idempotency key: either the desk's or the domain records'. */
export function answerTable(db: Db, table: 'answers' | 'service_answers'): AnswerTable {
  const { run, upsert, one } = sql(db);
  const put = upsert(table, ['key', 'name'], ['request', 'status', 'body', 'made_at']);
  return {
    get: one(`SELECT request, status, body FROM ${table} WHERE key = ? AND name = ? AND made_at > ?`, {
      request: text,
      status: integer,
      body: text,
    }),
    put: (key, name, answer, made_at) => void put({ key, name, ...answer, made_at }),
    deleteUntil: run(`DELETE FROM ${table} WHERE made_at <= ?`),
  };
}

/** The hosts at which papers are served. */
export function hostTable(db: Db): HostTable {
  const { run, all } = sql(db);
  const insert = run('INSERT INTO paper_hosts (paper, host, how, at) VALUES (?, ?, ?, ?)');
  const remove = run('DELETE FROM paper_hosts WHERE n = ?');
  const HOST = { n: integer, paper: text, how: oneOf('given', 'file', 'txt'), at: integer, host: text };
  const HOSTS = `SELECT ${columnsOf(HOST)} FROM paper_hosts`;
  // Migration 060 stored hosts as they were entered.
  const hostOf = (row: PaperHost & { n: number }) => ({ ...row, host: normal(row.host) });
  const of = all(`${HOSTS} WHERE paper = ? ORDER BY n`, HOST, hostOf);
  const holds = (paper: string, host: string) => of(paper).some((row) => row.host === host);
  return {
    all: all(`${HOSTS} ORDER BY n`, HOST, hostOf),
    of,
    holds,
    add: (paper, host, how, at) => !holds(paper, host) && insert(paper, host, how, at) === 1,
    remove(paper, host) {
      const found = of(paper).filter((row) => row.host === host);
      for (const { n } of found) remove(n);
      return found.length > 0;
    },
  };
}

function normal(host: string): string {
  const url = URL.parse(`http://${host}`);
  return url === null ? host : hostKey(url);
}

const SIGNATURE = { paper: text, version: text, digest: text, signed_by: text, signed_at: integer, key: text };

/** Signatures under the agreement for agents: the first one for each paper, version and text is kept permanently. */
export function termsTable(db: Db): TermsTable {
  const { insert, one } = sql(db);
  return {
    insert: insert('terms', SIGNATURE, 'ON CONFLICT DO NOTHING'),
    current: one(`SELECT ${columnsOf(SIGNATURE)} FROM terms WHERE paper = ? AND version = ? AND digest = ?`, SIGNATURE),
  };
}

const LINK = { hash: text, paper: text, piece: text, key: text, made_at: integer, expires_at: integer };

export function previewTable(db: Db, transact: Transact): PreviewTable {
  const { run, insert, one } = sql(db);
  const add = insert('previews', LINK);
  const trim = run(
    `DELETE FROM previews WHERE piece = ?1 AND rowid NOT IN
       (SELECT rowid FROM previews WHERE piece = ?1 ORDER BY made_at DESC, rowid DESC LIMIT ?2)`,
  );
  return {
    keep: (link) =>
      transact(() => {
        add(link);
        trim(link.piece, PREVIEWS_MAX);
      }),
    get: one(`SELECT ${columnsOf(LINK)} FROM previews WHERE hash = ?`, LINK),
    forget: run('DELETE FROM previews WHERE expires_at <= ?'),
  };
}

/**
 * Media whose files are missing or damaged, so that presses show stand-ins. All readers of media use this table, so
 * that they agree.
 */
export function missingMediaTable(db: Db) {
  const { run, insert, has, all } = sql(db);
  const MISSING = {
    digest: text,
    /** Distinguishes the damaged file from its replacement; null when there is no file. */
    damaged: orNull(text),
    /** When it was noticed, in ms. */
    at: integer,
  };
  return {
    all: all('SELECT digest, damaged, at FROM missing_media ORDER BY digest', MISSING),
    has: has('SELECT 1 FROM missing_media WHERE digest = ?'),
    note: insert('missing_media', MISSING, 'ON CONFLICT DO UPDATE SET damaged = excluded.damaged'),
    clear: run('DELETE FROM missing_media WHERE digest = ?'),
  };
}

/** Digests of the files in the content folder when they were last applied. */
export function appliedTable(db: Db) {
  const { run, one, all } = sql(db);
  const within = all('SELECT path FROM applied WHERE path >= ? AND path < ? ORDER BY path', text);
  return {
    /** Null when the file was never applied. */
    applied: one('SELECT digest FROM applied WHERE path = ?', text),
    setApplied: run('INSERT INTO applied VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest'),
    /** The applied files in a folder, whose path must end in a slash: "0" is the character after "/". */
    appliedIn: (folder: string): string[] => within(folder, `${folder.slice(0, -1)}0`),
    forgetApplied: run('DELETE FROM applied WHERE path = ?'),
  };
}

/** Deletes what a removed paper has outside of the ledger. */
export function removalTable(db: Db) {
  const { run } = sql(db);
  const readers = run('DELETE FROM subscribers WHERE paper = ?');
  // Mails, deliveries and their attempts go with their subscriber and webhook.
  const rest = [
    ...['webhooks', 'mails', 'reader_tokens', 'notices', 'digests', 'link_cards', 'source_readings'],
    ...['console_sessions', 'console_links', 'passkeys'],
  ].map((table) => run(`DELETE FROM ${table} WHERE paper = ?`));
  // The hash stays: if the paper comes back, these readers still get no mail.
  const suppressed = run('UPDATE suppressions SET email = NULL WHERE paper = ?');
  const revoke = run('UPDATE keys SET revoked_at = ?2, revoked_by = ?3 WHERE paper = ?1 AND revoked_at IS NULL');
  return {
    /** Deletes a paper's readers, webhooks, mails, link cards, sessions and passkeys. Returns the number of readers. */
    eraseReaders(paper: string): number {
      const count = readers(paper);
      for (const rows of rest) rows(paper);
      suppressed(paper);
      return count;
    },
    /** Revokes every key of a paper. Returns how many were in force. */
    revokeKeys: (paper: string, at: number, by: string): number => revoke(paper, at, by),
  };
}

import { type ConsoleLinkTable, PURPOSES } from '../../desk/console/link.ts';
import { ALGORITHM_NAMES, type ChallengeTable, type PasskeyTable } from '../../desk/console/passkey.ts';
import { BEGINNINGS, type ConsoleSessionTable } from '../../desk/console/session.ts';
import { columnsOf, type Db, integer, json, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';

// Sign-in to the papers' consoles. The tables store only hashes of cookies, links and challenges.

const SESSION = {
  id: text,
  paper: text,
  key: text,
  began: oneOf(...BEGINNINGS),
  made_at: integer,
  seen_at: integer,
  expires_at: integer,
  browser: text,
  network: text,
};

export function consoleSessionTable(db: Db): ConsoleSessionTable {
  const { run, insert, one, all } = sql(db);
  const add = insert('console_sessions', { ...SESSION, hash: text });
  const SESSIONS = `SELECT ${columnsOf(SESSION)} FROM console_sessions`;
  return {
    insert: (session, hash) => void add({ ...session, hash }),
    byHash: one(`${SESSIONS} WHERE hash = ?`, SESSION),
    touch: run('UPDATE console_sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1 AND seen_at < ?2'),
    end: run('DELETE FROM console_sessions WHERE id = ?'),
    endOthers: run('DELETE FROM console_sessions WHERE key = ? AND id <> ?'),
    list: all(
      `${SESSIONS} WHERE paper = ?1 AND expires_at > ?2 AND EXISTS (SELECT 1 FROM keys
         WHERE keys.id = key AND revoked_at IS NULL AND (keys.expires_at IS NULL OR keys.expires_at > ?2))
       ORDER BY id DESC LIMIT 500`,
      SESSION,
    ),
    forget: run('DELETE FROM console_sessions WHERE expires_at <= ?'),
  };
}

const LINK = {
  id: text,
  paper: text,
  purpose: oneOf(...PURPOSES),
  key: orNull(text),
  made_at: integer,
  expires_at: integer,
  used_at: orNull(integer),
};

export function consoleLinkTable(db: Db): ConsoleLinkTable {
  const { run, changed, insert, one, number } = sql(db);
  const add = insert('console_links', { ...LINK, hash: text });
  const LINKS = `SELECT ${columnsOf(LINK)} FROM console_links`;
  const use = changed('UPDATE console_links SET used_at = ? WHERE id = ? AND used_at IS NULL');
  const useOthers = run('UPDATE console_links SET used_at = ? WHERE key = ? AND used_at IS NULL');
  return {
    insert: (link, hash) => void add({ ...link, hash }),
    byId: one(`${LINKS} WHERE id = ?`, LINK),
    byHash: one(`${LINKS} WHERE hash = ?`, LINK),
    use({ id, key }, at) {
      if (!use(at, id)) return false;
      useOthers(at, key);
      return true;
    },
    waiting: number(
      "SELECT count(*) FROM console_links WHERE key = ? AND made_at > ? AND purpose = 'mail' AND used_at IS NULL",
    ),
    endFirst: run("UPDATE console_links SET used_at = ?2 WHERE paper = ?1 AND purpose = 'first' AND used_at IS NULL"),
    forget: run('DELETE FROM console_links WHERE expires_at <= ?'),
  };
}

const PASSKEY = {
  id: text,
  paper: text,
  key: text,
  host: text,
  name: text,
  algorithm: oneOf(...ALGORITHM_NAMES),
  public_key: text,
  counter: integer,
  transports: json<string[]>(),
  made_at: integer,
  used_at: orNull(integer),
};

export function passkeyTable(db: Db): PasskeyTable {
  const { changed, insert, one, all } = sql(db);
  const add = insert('passkeys', PASSKEY, 'ON CONFLICT DO NOTHING');
  const PASSKEYS = `SELECT ${columnsOf(PASSKEY)} FROM passkeys`;
  return {
    insert: (passkey) => add(passkey) === 1,
    byId: one(`${PASSKEYS} WHERE id = ?`, PASSKEY),
    ofKey: all(`${PASSKEYS} WHERE key = ? ORDER BY made_at, id`, PASSKEY),
    advance: changed(
      `UPDATE passkeys SET counter = ?2, used_at = ?3
       WHERE id = ?1 AND (counter < ?2 OR (counter = 0 AND ?2 = 0))`,
    ),
    rename: changed('UPDATE passkeys SET name = ?3 WHERE key = ?1 AND id = ?2'),
    remove: changed('DELETE FROM passkeys WHERE key = ? AND id = ?'),
  };
}

const CHALLENGE = { paper: text, origin: text, session: orNull(text), expires_at: integer };

export function challengeTable(db: Db): ChallengeTable {
  const { run, insert, one } = sql(db);
  const add = insert('passkey_challenges', { ...CHALLENGE, hash: text });
  return {
    insert: (challenge, hash) => void add({ ...challenge, hash }),
    take: one(`DELETE FROM passkey_challenges WHERE hash = ? RETURNING ${columnsOf(CHALLENGE)}`, CHALLENGE),
    forget: run('DELETE FROM passkey_challenges WHERE expires_at <= ?'),
  };
}

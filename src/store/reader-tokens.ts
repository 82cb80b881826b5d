import type { TokenTable } from '../readers/token.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const TOKEN = {
  hash: text,
  paper: text,
  reader: text,
  purpose: oneOf('confirm', 'manage'),
  expires_at: orNull(integer),
  used_at: orNull(integer),
};
const COLUMNS = Object.keys(TOKEN).join(', ');

/** Tokens of links in mails. The table stores a hash of each token, never the token. */
export function readerTokenTable(db: Db): TokenTable {
  const { run, one } = sql(db);
  const keep = run(`INSERT INTO reader_tokens (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const use = run('UPDATE reader_tokens SET used_at = ? WHERE hash = ? AND used_at IS NULL');
  const drop = run('DELETE FROM reader_tokens WHERE paper = ?1 AND reader = ?2 AND (?3 IS NULL OR purpose = ?3)');
  return {
    keep({ hash, paper, reader, purpose, expires_at, used_at }) {
      keep(hash, paper, reader, purpose, expires_at, used_at);
    },
    get: one(`SELECT ${COLUMNS} FROM reader_tokens WHERE hash = ?`, TOKEN),
    use: (hash, at) => use(at, hash) === 1,
    drop(paper, reader, purpose) {
      drop(paper, reader, purpose ?? null);
    },
    forget: run('DELETE FROM reader_tokens WHERE expires_at <= ?'),
  };
}

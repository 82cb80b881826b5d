import type { Token, TokenTable } from '../readers/token.ts';
import type { Db } from './open.ts';

/** What mailed links carry: the table holds hashes, never the tokens. */
export function readerTokenTable(db: Db): TokenTable {
  const keep = db.prepare(
    `INSERT INTO reader_tokens (hash, paper, reader, purpose, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const get = db.prepare('SELECT hash, paper, reader, purpose, expires_at, used_at FROM reader_tokens WHERE hash = ?');
  const use = db.prepare('UPDATE reader_tokens SET used_at = ? WHERE hash = ? AND used_at IS NULL');
  const drop = db.prepare(
    'DELETE FROM reader_tokens WHERE paper = ?1 AND reader = ?2 AND (?3 IS NULL OR purpose = ?3)',
  );
  const forget = db.prepare('DELETE FROM reader_tokens WHERE expires_at <= ?');
  return {
    keep({ hash, paper, reader, purpose, expires_at, used_at }) {
      keep.run(hash, paper, reader, purpose, expires_at, used_at);
    },
    get(hash) {
      const [row] = get.all(hash) as Token[];
      return row ?? null;
    },
    use: (hash, at) => use.run(at, hash).changes === 1,
    drop(paper, reader, purpose) {
      drop.run(paper, reader, purpose ?? null);
    },
    forget(until) {
      forget.run(until);
    },
  };
}

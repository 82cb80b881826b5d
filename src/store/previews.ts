import { PREVIEWS_MAX, type PreviewTable } from '../desk/preview-link.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

const LINK = { hash: text, paper: text, piece: text, key: text, made_at: integer, expires_at: integer };
const COLUMNS = Object.keys(LINK).join(', ');

export function previewTable(db: Db, transact: Transact): PreviewTable {
  const { run, one } = sql(db);
  const insert = run(`INSERT INTO previews (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const trim = run(
    `DELETE FROM previews WHERE piece = ?1 AND rowid NOT IN
       (SELECT rowid FROM previews WHERE piece = ?1 ORDER BY made_at DESC, rowid DESC LIMIT ?2)`,
  );
  return {
    keep({ hash, paper, piece, key, made_at, expires_at }) {
      transact(() => {
        insert(hash, paper, piece, key, made_at, expires_at);
        trim(piece, PREVIEWS_MAX);
      });
    },
    get: one(`SELECT ${COLUMNS} FROM previews WHERE hash = ?`, LINK),
    forget: run('DELETE FROM previews WHERE expires_at <= ?'),
  };
}

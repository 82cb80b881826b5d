import { existsSync } from 'node:fs';
import Database from 'libsql';
import { STATES, type StateName } from '../../desk/archive.ts';
import { oneOf, sql, text } from '../../shared/sql/sql.ts';

const state = oneOf(...STATES);

/** What the ledger contains of the content folder; null without a database. */
export type FiledContent = {
  /** The digests of content files when they were last filed, by file name. */
  digests: ReadonlyMap<string, string>;
  /** The states of pieces, by `paper/slug`. */
  states: ReadonlyMap<string, StateName>;
} | null;

/**
 * Reads what was filed without writing anything: the database may belong to an older or newer program, or be in use by
 * a server. Also null when it cannot be read.
 */
export function filedContent(file: string): FiledContent {
  if (!existsSync(file)) return null;
  try {
    const db = new Database(file, { readonly: true });
    try {
      const rows = sql(db).all('SELECT path, digest FROM applied', { path: text, digest: text })();
      const pieces = sql(db).all('SELECT paper, slug, state FROM pieces', { paper: text, slug: text, state })();
      return {
        digests: new Map(rows.map(({ path, digest }) => [path, digest])),
        states: new Map(pieces.map((piece) => [`${piece.paper}/${piece.slug}`, piece.state])),
      };
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

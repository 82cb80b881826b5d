import { existsSync } from 'node:fs';
import Database from 'libsql';
import { text } from './columns.ts';
import { sql } from './sql.ts';

/** The digests of content files as they were last filed, by the files' names; null when there is no database. */
export type FiledDigests = ReadonlyMap<string, string> | null;

/**
 * Reads what was filed, and writes nothing: the database may be of an older or newer program, or in use by a server.
 * Null also when it cannot be read.
 */
export function filedDigests(file: string): FiledDigests {
  if (!existsSync(file)) return null;
  try {
    const db = new Database(file, { readonly: true });
    try {
      const rows = sql(db).all('SELECT path, digest FROM applied', { path: text, digest: text })();
      return new Map(rows.map(({ path, digest }) => [path, digest]));
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

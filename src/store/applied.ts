import { text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** Digests of the files in the content folder when they were last applied. */
export interface AppliedTable {
  /** Null when the file was never applied. */
  applied(path: string): string | null;
  setApplied(path: string, digest: string): void;
  /** The applied files whose paths begin with a folder, which ends in a slash. */
  appliedIn(folder: string): string[];
  forgetApplied(path: string): void;
}

export function appliedTable(db: Db): AppliedTable {
  const { run, one, all } = sql(db);
  const within = all('SELECT path FROM applied WHERE path >= ? AND path < ? ORDER BY path', text);
  return {
    applied: one('SELECT digest FROM applied WHERE path = ?', text),
    setApplied: run('INSERT INTO applied VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest'),
    // "0" is the character after the slash.
    appliedIn: (folder) => within(folder, `${folder.slice(0, -1)}0`),
    forgetApplied: run('DELETE FROM applied WHERE path = ?'),
  };
}

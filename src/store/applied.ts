import { text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** Digests of the files in the content folder when they were last applied. */
export interface AppliedTable {
  /** Null when the file was never applied. */
  applied(path: string): string | null;
  setApplied(path: string, digest: string): void;
}

export function appliedTable(db: Db): AppliedTable {
  const { run, one } = sql(db);
  return {
    applied: one('SELECT digest FROM applied WHERE path = ?', text),
    setApplied: run('INSERT INTO applied VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest'),
  };
}

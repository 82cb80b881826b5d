import type { Db } from './open.ts';

/** Files of the content folder with their digest when they were last applied. */
export function appliedTable(db: Db) {
  const get = db.prepare('SELECT digest FROM applied WHERE path = ?');
  const set = db.prepare('INSERT INTO applied VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest');
  return {
    /** The digest with which the file was applied, or null. */
    applied: (path: string): string | null => (get.get(path) as { digest: string } | undefined)?.digest ?? null,
    setApplied(path: string, digest: string): void {
      set.run(path, digest);
    },
  };
}

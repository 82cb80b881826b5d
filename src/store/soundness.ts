import { freshDatabase } from './open.ts';
import { schemaFaults } from './schema-audit.ts';
import { type Db, integer, sql, text } from './sql.ts';

/** SQLite's own checks of the file, and a check that it has this program's tables. */
export interface SoundnessChecks {
  /** The faults found by SQLite's full check. */
  integrity(): string[];
  /**
   * At most five faults found by SQLite's quick check; the size of the file, and how much of it is unused, in bytes.
   */
  soundness(): { faults: string[]; size: number; free: number };
  /** The differences between the database's tables, indexes and triggers and this program's. */
  schemaFaults(): string[];
}

const isFault = (found: string): boolean => found !== 'ok';

export function soundnessChecks(db: Db): SoundnessChecks {
  const { one, all } = sql(db);
  const pragma = (name: string): number => one(`PRAGMA ${name}`, integer)() ?? 0;
  return {
    integrity: () => all('PRAGMA integrity_check', text)().filter(isFault),
    soundness: () => ({
      faults: all('PRAGMA quick_check(5)', text)().filter(isFault),
      size: pragma('page_size') * pragma('page_count'),
      free: pragma('page_size') * pragma('freelist_count'),
    }),
    schemaFaults() {
      const fresh = freshDatabase();
      try {
        return schemaFaults(db, fresh);
      } finally {
        fresh.close();
      }
    },
  };
}

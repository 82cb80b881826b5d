import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { freshDatabase } from './open.ts';
import { schemaFaults } from './schema-audit.ts';
import { sql } from './sql.ts';

/** What SQLite itself says of the file, and whether the file has this program's tables. */
export interface SoundnessChecks {
  /** SQLite's full check; one text for each fault. */
  integrity(): string[];
  /** SQLite's quick check, with at most a few of its faults; the size of the file, and how much of it is unused, in bytes. */
  soundness(): { faults: string[]; size: number; free: number };
  /** How the tables, indexes and triggers differ from this program's. */
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

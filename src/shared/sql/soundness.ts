import { freshDatabase } from './open.ts';
import { type Db, orNull, sql, text } from './sql.ts';

/** SQLite's own checks of the file, and a check that it has this program's tables. */
export function soundnessChecks(db: Db) {
  const { number, all } = sql(db);
  const faultsOf = (check: string) => all(`PRAGMA ${check}`, text)().filter((found) => found !== 'ok');
  return {
    /** The faults found by SQLite's full check. */
    integrity: (): string[] => faultsOf('integrity_check'),
    /** At most five faults found by SQLite's quick check; the size of the file, and how much of it is unused, in bytes. */
    soundness() {
      const pageSize = number('PRAGMA page_size')();
      return {
        faults: faultsOf('quick_check(5)'),
        size: pageSize * number('PRAGMA page_count')(),
        free: pageSize * number('PRAGMA freelist_count')(),
      };
    },
    /**
     * The differences between the database's tables, indexes and triggers and this program's. A missing trigger would
     * leave an append-only table open to changes.
     */
    schemaFaults(): string[] {
      const wanted = ownItems();
      const found = itemsOf(db);
      const faults: string[] = [];
      for (const [key, sql] of wanted) {
        if (!found.has(key)) faults.push(`schema: the ${key} is missing`);
        else if (found.get(key) !== sql) faults.push(`schema: the ${key} is not the one that this program makes`);
      }
      for (const key of found.keys()) {
        if (!wanted.has(key)) faults.push(`schema: nothing of this program made the ${key}`);
      }
      return faults;
    },
  };
}

/** Excludes SQLite's own tables and indexes, and the two tables of Litestream, which backs up databases. */
const SCHEMA = `SELECT type, name, sql FROM sqlite_schema
  WHERE name NOT LIKE 'sqlite%' AND name NOT IN ('_litestream_lock', '_litestream_seq') ORDER BY type, name`;

let own: ReadonlyMap<string, string | null> | undefined;

/**
 * This program's tables, indexes and triggers: cached, because creating them takes longer than auditing a small desk.
 */
function ownItems(): ReadonlyMap<string, string | null> {
  if (own === undefined) {
    const fresh = freshDatabase();
    own = itemsOf(fresh);
    fresh.close();
  }
  return own;
}

function itemsOf(db: Db): Map<string, string | null> {
  const items = sql(db).all(SCHEMA, { type: text, name: text, sql: orNull(text) });
  return new Map(items().map((item) => [`${item.type} ${item.name}`, item.sql]));
}

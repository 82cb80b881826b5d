import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { sql, text } from './sql.ts';

/** How long a read waits for the lock of another process, in ms. */
const BUSY_TIMEOUT = 5_000;

/**
 * The read-only URI of a database. Without a `-wal` file no process has it open, and SQLite is told not to lock:
 * otherwise it would leave that file behind.
 */
function readOnlyAddress(file: string): string {
  const url = pathToFileURL(file);
  url.search = existsSync(`${file}-wal`) ? 'mode=ro' : 'immutable=1';
  return url.href;
}

/**
 * Opens a database of any version for reading, and changes nothing. Only for processes that do not open it for writing:
 * the driver closes it when its statements are garbage-collected, which would drop the locks of another connection.
 */
export function openReadOnly(file: string): Database.Database {
  const db = new Database(readOnlyAddress(file));
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
  return db;
}

/**
 * The migrations that a database has, without changing anything: none when it does not exist or is empty, `foreign`
 * when it has tables of another program alone.
 */
export function migrationsIn(file: string): string[] | 'foreign' {
  if (!existsSync(file) || statSync(file).size === 0) return [];
  try {
    return readMigrations(file);
  } catch (error) {
    // Another process may have just opened it for writing.
    if (!existsSync(`${file}-wal`)) throw error;
    return readMigrations(file);
  }
}

/** Attaches the database and copies from it, so that no prepared statement keeps it open: it is closed at once. */
function readMigrations(file: string): string[] | 'foreign' {
  const db = new Database(':memory:');
  const read = (query: string): string[] => {
    db.exec(`CREATE TEMP TABLE found AS ${query}`);
    const names = sql(db).all('SELECT name FROM temp.found ORDER BY name', text)();
    db.exec('DROP TABLE temp.found');
    return names;
  };
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}; PRAGMA temp_store = MEMORY`);
    db.exec(`ATTACH '${readOnlyAddress(file).replaceAll("'", "''")}' AS looked_at`);
    const tables = read("SELECT name FROM looked_at.sqlite_schema WHERE type = 'table'");
    const isOurs = tables.includes('migrations');
    const names = isOurs ? read('SELECT name FROM looked_at.migrations') : [];
    db.exec('DETACH looked_at');
    return isOurs || tables.length === 0 ? names : 'foreign';
  } finally {
    db.close();
  }
}

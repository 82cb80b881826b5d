import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileLock } from './file-lock.ts';
import { type DatabaseSettings, IN_MEMORY } from './open.ts';
import type { Db } from './sql.ts';

/** Checkpoint once the write-ahead log has this many pages, SQLite's default. */
const PAGES = 1_000;

/** The same beside Litestream, which checkpoints by itself: 256 MiB, in case it has died. */
const PAGES_BESIDE_LITESTREAM = 65_536;

/** The minimum interval between two checks for Litestream, in ms. */
const CHECK_EVERY = 1_000;

/**
 * Decides which connection moves the write-ahead log into the database. `commit` commits; call `close` when the
 * connection is closed.
 *
 * libSQL 0.5 has SQLite 3.45.1, whose checkpoint can lose commits when another connection restarts the log at the same
 * moment (https://sqlite.org/wal.html#walresetbug). That cannot happen while one connection alone checkpoints, and only
 * after a commit of its own: until that commit has been moved, no connection restarts the log. So all connections open
 * with `wal_autocheckpoint = 0`. One that commits takes a lock, raises the setting, and keeps the lock until SQLite has
 * checkpointed at the end of the commit; without the lock it commits without a checkpoint.
 */
export function checkpoints(db: Db, { file, checkpointPages = PAGES }: DatabaseSettings) {
  if (file === IN_MEMORY) return { commit: () => db.exec('COMMIT'), close: () => {} };
  const litestream = join(dirname(file), `.${basename(file)}-litestream`);
  const lock = new FileLock(`${file}-checkpoints`);
  const isAlone = (): boolean => {
    try {
      return lock.take();
    } catch {
      // The disk fails. The commit does not depend on the lock.
      return false;
    }
  };
  let pages = checkpointPages;
  let nextCheck = 0;
  return {
    commit(): void {
      if (!isAlone()) {
        db.exec('COMMIT');
        return;
      }
      try {
        if (performance.now() >= nextCheck) {
          pages = existsSync(litestream) ? PAGES_BESIDE_LITESTREAM : checkpointPages;
          nextCheck = performance.now() + CHECK_EVERY;
        }
        db.exec(`PRAGMA wal_autocheckpoint = ${pages}; COMMIT`);
      } finally {
        db.exec('PRAGMA wal_autocheckpoint = 0');
        lock.give();
      }
    },
    close: (): void => lock.close(),
  };
}

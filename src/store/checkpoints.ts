import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { lockFile } from './file-lock.ts';
import { type DatabaseSettings, type Db, IN_MEMORY } from './open.ts';

/**
 * Who moves the write-ahead log into the database. libSQL 0.5 has SQLite 3.45.1, whose checkpoint can lose commits when
 * another connection begins the log again in the same moment (https://sqlite.org/wal.html#walresetbug). That cannot
 * happen while one connection alone checkpoints, and only after commits of its own: as long as its commit is not moved,
 * nobody begins the log again. So all connections open with `wal_autocheckpoint = 0`, and of all those that commit, in
 * every process, the one that has the lock sets it to more.
 */
export interface Checkpoints {
  /** Call it after each commit. */
  committed(): void;
  /** Call it when the connection is closed. */
  close(): void;
}

/** How many pages the log has before it is moved, which is SQLite's own default. */
const PAGES = 1_000;

/** The same beside Litestream, which checkpoints by itself: 256 MiB, for the case that it has died. */
const PAGES_BESIDE_LITESTREAM = 65_536;

/** How often a connection asks for the lock, and looks for Litestream, in ms. */
const EVERY = 1_000;

/** The checkpoints of one connection. */
export function checkpoints(db: Db, { file, checkpointPages = PAGES }: DatabaseSettings): Checkpoints {
  const litestream = join(dirname(file), `.${basename(file)}-litestream`);
  let release: (() => void) | null = null;
  let asked = Number.NEGATIVE_INFINITY;
  let limit = 0;
  return {
    committed() {
      const now = performance.now();
      if (file === IN_MEMORY || now - asked < EVERY) return;
      asked = now;
      release ??= lockFor(file);
      const wanted = release === null ? 0 : existsSync(litestream) ? PAGES_BESIDE_LITESTREAM : checkpointPages;
      if (wanted !== limit) db.exec(`PRAGMA wal_autocheckpoint = ${wanted}`);
      limit = wanted;
    },
    close() {
      release?.();
      release = null;
    },
  };
}

function lockFor(file: string): (() => void) | null {
  try {
    return lockFile(`${file}-checkpoints`);
  } catch {
    // The commit holds all the same. Whoever asks next may succeed.
    return null;
  }
}

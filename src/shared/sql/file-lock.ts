import Database from 'libsql';

/**
 * A lock that one connection of one process holds at a time. The system releases it when the process ends, however it
 * ends.
 */
export class FileLock {
  readonly #file: string;
  #db: InstanceType<typeof Database> | null = null;

  /** Does not create the file yet. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the lock, and creates its file when there is none. Returns false while another process holds it. */
  take(): boolean {
    try {
      this.#db ??= opened(this.#file);
      this.#db.exec('BEGIN EXCLUSIVE');
      return true;
    } catch (error) {
      if (/SQLITE_BUSY|locked/.test(`${(error as { code?: string }).code} ${(error as Error).message}`)) return false;
      throw error;
    }
  }

  /** Releases the lock; it can be taken again. */
  give(): void {
    this.#db?.exec('COMMIT');
  }

  /** Releases the lock permanently. */
  close(): void {
    this.#db?.close();
    this.#db = null;
  }
}

/** Locks a file for this process. Returns a function that releases the lock, or null while another process has it. */
export function lockFile(file: string): (() => void) | null {
  const lock = new FileLock(file);
  let isTaken = false;
  try {
    isTaken = lock.take();
  } finally {
    if (!isTaken) lock.close();
  }
  return isTaken ? () => lock.close() : null;
}

function opened(file: string) {
  const db = new Database(file);
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0');
  return db;
}

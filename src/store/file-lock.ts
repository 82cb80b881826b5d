import Database from 'libsql';

/**
 * Locks a file for this process, and creates it when there is none. The system gives the lock up with the process, in
 * whatever way it ends. Returns what gives it up, or null while another process has it.
 */
export function lockFile(file: string): (() => void) | null {
  const db = new Database(file);
  try {
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return () => db.close();
  } catch (error) {
    db.close();
    if (/SQLITE_BUSY|locked/.test(`${(error as { code?: string }).code} ${(error as Error).message}`)) return null;
    throw error;
  }
}

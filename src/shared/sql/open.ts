import { accessSync, chmodSync, constants, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { codeOf, DiskFault, type DiskState, Fault, isLocked, LockedFault, messageOf } from '../fault.ts';
import { makeFolder } from '../files/durable-file.ts';
import { migrationsIn } from './read-only.ts';
import { type Db, prepareEagerly, rollBack, sql, text } from './sql.ts';

export interface DatabaseSettings {
  /** Its path, or `IN_MEMORY`. */
  file: string;
  /** The page cache of each connection, in KiB. */
  cache?: number;
  /** Checkpoint once the write-ahead log has this many pages; 1,000 unless a test wants fewer. */
  checkpointPages?: number;
}

/** A database that is never written to disk. */
export const IN_MEMORY = ':memory:';

/** How long a write waits for the lock of another process, in ms. */
export const BUSY_TIMEOUT = 5_000;

/** The default page cache of a connection, in KiB. */
const CACHE = 16_384;

/**
 * Opens the database and migrates it to this program's schema. Throws `unavailable` when another process locks the
 * database, and, before anything is written, when a newer or another program created it.
 */
export function openDatabase(settings: DatabaseSettings): Db {
  if (settings.file === IN_MEMORY) return freshDatabase();
  if (!ours.has(settings.file)) requireOurs(settings.file);
  ours.add(settings.file);
  try {
    makeFolder(dirname(settings.file), 0o700);
  } catch (error) {
    throw cannotWrite(settings.file, messageOf(error));
  }
  let db: Db | null = null;
  try {
    db = new Database(settings.file);
    // Set first, so that opening waits for the lock of another process too.
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    db.exec('PRAGMA journal_mode = WAL');
    // A commit is on disk before any process reads it. On macOS, only the fullfsync pragmas reach the disk.
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA fullfsync = ON');
    db.exec('PRAGMA checkpoint_fullfsync = ON');
    db.exec('PRAGMA foreign_keys = ON');
    // Overwrites deleted content in pages that are written anyway, so that nothing of an erased name stays in free
    // space.
    db.exec('PRAGMA secure_delete = FAST');
    // See `Checkpoints`.
    db.exec('PRAGMA wal_autocheckpoint = 0');
    db.exec(`PRAGMA cache_size = -${settings.cache ?? CACHE}`);
    chmodSync(settings.file, 0o600);
    migrate(db, settings.file);
    return db;
  } catch (error) {
    db?.close();
    throw databaseFault(error, settings.file);
  }
}

/** Databases that this thread has checked. If another program replaces one later, `migrate` rejects it. */
const ours = new Set<string>();

/**
 * The migrations that a database has, without writing to it; none when there is no database. Throws `unavailable` unless
 * this program or an older version made it.
 */
export function requireOurs(file: string): string[] {
  let found: string[] | 'foreign';
  try {
    found = migrationsIn(file);
  } catch (error) {
    throw databaseFault(error, file);
  }
  if (found === 'foreign') {
    throw new Fault('unavailable', `${file} is a database of another program; set DATA_DIR to another folder`);
  }
  requireKnown(file, found);
  return found;
}

/** Throws when a database has migrations that this program does not have. */
function requireKnown(file: string, applied: readonly string[]): void {
  const names = migrationFiles();
  const unknown = applied.filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw new Fault(
    'unavailable',
    `the database ${file} was made by a newer Broadsheet (it has ${unknown.join(', ')}); run that one, or restore the backup from before the upgrade`,
  );
}

/** An empty in-memory database with this program's schema. */
export function freshDatabase(): Db {
  const db = new Database(IN_MEMORY);
  prepareEagerly(db);
  migrate(db, IN_MEMORY);
  return db;
}

/** SQLite's codes for I/O failures and full disks. */
const DISK = /^SQLITE_(?:FULL|READONLY|CANTOPEN|IOERR|PERM)/;

/**
 * Turns an error of a busy or broken database into a fault that names the file and the cure. Returns other errors
 * unchanged.
 */
export function databaseFault(error: unknown, file: string): unknown {
  if (error instanceof Fault) return error;
  const code = (error as { code?: string }).code ?? '';
  const message = messageOf(error);
  if (isLocked(error) || /database is locked/.test(message)) return lockedFault(file);
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT') || /not a database|malformed/.test(message)) {
    return new Fault(
      'unavailable',
      `${file} is not a sound database (${message}); restore it from a ledger export or a backup`,
    );
  }
  if (DISK.test(code) || /unable to open|ConnectionFailed/.test(message)) return cannotWrite(file, message);
  return error;
}

/** The fault of a database that another process writes to for too long. */
export function lockedFault(file: string): LockedFault {
  return new LockedFault(`the database ${file} is locked by another process; wait for it or stop it, then try again`);
}

/** The fault of a disk that does not take the database. */
export function cannotWrite(file: string, given: string): DiskFault {
  // SQLite says only that a write failed.
  const why = diskState(given) === 'failing' && isReadOnly(dirname(file)) ? 'the disk is read-only' : given;
  return new DiskFault(
    diskState(why),
    `the database ${file} cannot be written (${why}); check the disk's space and the folder's permissions`,
  );
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/** The state of a disk, from an error message of SQLite or Node. */
function diskState(why: string): DiskState {
  if (/disk is full|ENOSPC|EDQUOT/.test(why)) return 'full';
  return /readonly|read-only|EROFS/.test(why) ? 'read_only' : 'failing';
}

const MIGRATIONS = new URL('../../store/migrations/', import.meta.url);

let migrationNames: string[] | undefined;

/** The names of this program's migrations, in the order in which they are run. */
export function migrationFiles(): readonly string[] {
  migrationNames ??= readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return migrationNames;
}

/** The SQL of a migration. */
export function readMigration(name: string): string {
  return readFileSync(new URL(name, MIGRATIONS), 'utf8');
}

/** Runs the migrations that this database does not have yet, in order, in one transaction each. */
function migrate(db: Db, file: string): void {
  db.exec('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT');
  const { run, has, all } = sql(db);
  const done = all('SELECT name FROM migrations', text)();
  const isDone = has('SELECT 1 FROM migrations WHERE name = ?');
  const note = run('INSERT INTO migrations VALUES (?)');
  requireKnown(file, done);
  for (const name of migrationFiles().filter((candidate) => !done.includes(candidate))) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Two processes may start at once; the second one finds the migration done.
      if (!isDone(name)) {
        db.exec(readMigration(name));
        note(name);
      }
      db.exec('COMMIT');
    } catch (error) {
      rollBack(db);
      throw error;
    }
  }
}

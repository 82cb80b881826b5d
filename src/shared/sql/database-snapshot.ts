import Database from 'libsql';
import type { LogService } from '../../proof/log/leaf.ts';
import { databaseFault } from './open.ts';
import { bytes, type Db, integer, sql, text } from './sql.ts';

/** A small page cache, because the connection reads each page once. */
const CACHE = 'PRAGMA cache_size = -2000';
/** Pages read per batch. */
const CHUNK_PAGES = 256;
const BUSY_TIMEOUT = 5_000;

/** The newest head of a log. */
export interface SnapshotHead {
  log: LogService;
  origin: string;
  size: number;
  checkpoint: string;
}

/**
 * The whole database as it was at one moment, page by page, while other connections go on writing. It is never migrated.
 * Meanwhile the write-ahead log cannot restart, so it grows with every write.
 */
export class DatabaseSnapshot {
  /** In bytes. */
  readonly size: number;
  /** The names of the migrations that the database has. */
  readonly migrations: string[];
  readonly #db: Db;
  readonly #pages: number;
  readonly #file: string;

  /** Throws `unavailable` when the file is not a readable database. */
  constructor(file: string) {
    this.#file = file;
    try {
      this.#db = new Database(file);
      this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
      this.#db.exec('PRAGMA query_only = ON');
      this.#db.exec(CACHE);
      this.#db.exec('BEGIN');
      const { all, one } = sql(this.#db);
      // The first read begins the snapshot.
      this.migrations = all('SELECT name FROM migrations ORDER BY name', text)();
      this.#pages = one('PRAGMA page_count', integer)() ?? 0;
      this.size = this.#pages * (one('PRAGMA page_size', integer)() ?? 0);
    } catch (error) {
      throw databaseFault(error, file);
    }
  }

  /** The bytes of a database file with this state, in WAL mode. */
  *content(): Iterable<Uint8Array> {
    const page = sql(this.#db).one('SELECT data FROM sqlite_dbpage WHERE pgno = ?', bytes);
    for (let first = 1; first <= this.#pages; first += CHUNK_PAGES) {
      const chunk: Uint8Array[] = [];
      try {
        for (let pgno = first; pgno < first + CHUNK_PAGES && pgno <= this.#pages; pgno++) {
          const data = page(pgno);
          if (data === null) throw new Error(`database disk image is malformed: it has no page ${pgno}`);
          chunk.push(data);
        }
      } catch (error) {
        throw databaseFault(error, this.#file);
      }
      yield Buffer.concat(chunk);
    }
  }

  /** The digests of every media file that the ledger names, and of every source that evidence keeps, each once. */
  media(): string[] {
    const { all, number } = sql(this.#db);
    // A database of an older version has no evidence.
    const kept = number("SELECT count(*) FROM sqlite_master WHERE name = 'evidence'")();
    const evidence =
      'UNION SELECT text FROM evidence WHERE text IS NOT NULL UNION SELECT archive FROM evidence WHERE archive IS NOT NULL';
    return all(
      `SELECT json_extract(body, '$.digest') FROM records
       WHERE kind = 'media' AND json_extract(body, '$.digest') IS NOT NULL ${kept === 0 ? 'GROUP BY 1' : evidence}`,
      text,
    )();
  }

  /** The newest head of each log. A database from before the logs has none. */
  heads(): SnapshotHead[] {
    const { all, one } = sql(this.#db);
    const tables = one(`SELECT count(*) FROM sqlite_master WHERE name IN ('log_heads', 'records')`, integer)();
    if (tables !== 2) return [];
    return all(
      `SELECT log, origin, size, checkpoint FROM log_heads h
       WHERE number = (SELECT max(number) FROM log_heads WHERE log = h.log) ORDER BY log`,
      { log: text, origin: text, size: integer, checkpoint: text },
      (row) => ({ ...row, log: row.log as LogService }),
    )();
  }

  close(): void {
    // The driver closes a connection only after its statements are garbage-collected.
    if (this.#db.open && this.#db.inTransaction) this.#db.exec('COMMIT');
    this.#db.close();
  }
}

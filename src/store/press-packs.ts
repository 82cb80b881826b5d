import { chmodSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { isLocked } from '../fault.ts';
import { makeFolder } from '../files/durable-file.ts';
import type { PressPacks } from '../press/press-cache.ts';
import { bytes, integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** How long a write waits for another thread, in ms. What cannot be written by then is not kept. */
const BUSY_TIMEOUT = 200;
/** How much of the file a connection keeps in memory, in KiB. */
const CACHE = 1_024;
/** In bytes. Packs have some 100 KB. */
const PAGE_SIZE = 16_384;
/** How many pages the write-ahead log has before they are moved into the file: 16 MB. */
const CHECKPOINT_PAGES = 1_000;

interface Connected {
  db: Db;
  tables: ReturnType<typeof tablesOf>;
}

/**
 * The packs of one paper's press cache, in a database of its own: all of it can be made again, so it belongs neither in
 * the ledger's database nor in backups. When it is damaged, or other code made it, it is removed; when it cannot be
 * used, a press goes on without it.
 */
export class PressPackFile implements PressPacks {
  readonly #file: string;
  readonly #code: string;
  #open: Connected | null = null;
  #hasNew = false;

  /** `code` identifies the code that makes what is kept. */
  constructor(file: string, code: string) {
    this.#file = file;
    this.#code = code;
    // What is damaged, or of other code, is removed by the first attempt.
    for (let attempt = 1; attempt <= 2 && this.#open === null; attempt++) {
      this.#attempt(() => {
        makeFolder(dirname(file), 0o700);
        this.#open = this.#connected();
        if (this.#open === null) removePacks(file);
      });
    }
  }

  holding(outputs: readonly string[]): Uint8Array[] {
    return this.#attempt(() => this.#open?.tables.holding(JSON.stringify(outputs))) ?? [];
  }

  keep(outputs: readonly string[], pack: Uint8Array): void {
    this.#transact(({ place, add }) => place(add(pack), JSON.stringify(outputs)));
    this.#hasNew = true;
  }

  prune(outputs: ReadonlySet<string>): void {
    const isGrown = this.#attempt(() => (this.#open?.tables.count() ?? 0) > outputs.size) ?? false;
    if (!isGrown && !this.#hasNew) return;
    this.#transact(({ forget, dropEmpty }) => {
      if (isGrown) forget(JSON.stringify([...outputs]));
      dropEmpty();
    });
  }

  close(): void {
    this.#open?.db.close();
    this.#open = null;
  }

  /** Null when other code made what the file holds. */
  #connected(): Connected | null {
    const db = new Database(this.#file);
    try {
      prepare(db);
      chmodSync(this.#file, 0o600);
      const tables = tablesOf(db);
      if (tables.code() === null) tables.setCode(this.#code);
      if (tables.code() === this.#code) return { db, tables };
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
    return null;
  }

  #transact(work: (tables: Connected['tables']) => void): void {
    this.#attempt(() => {
      if (this.#open === null) return;
      const { db, tables } = this.#open;
      db.exec('BEGIN IMMEDIATE');
      try {
        work(tables);
        db.exec('COMMIT');
      } catch (error) {
        // SQLite itself rolls back after some errors, such as a full disk.
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error)) this.#giveUp();
      return undefined;
    }
  }

  #giveUp(): void {
    try {
      this.close();
      removePacks(this.#file);
    } catch {
      // It stays, and the next press tries again.
    }
  }
}

/** Removes the file, and those that SQLite has beside it. */
export function removePacks(file: string): void {
  for (const side of ['', '-wal', '-shm']) rmSync(file + side, { force: true });
}

function prepare(db: Db): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
  db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = NORMAL');
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.exec(`PRAGMA cache_size = -${CACHE}`);
  db.exec('CREATE TABLE IF NOT EXISTS maker (code TEXT NOT NULL)');
  db.exec('CREATE TABLE IF NOT EXISTS packs (n INTEGER PRIMARY KEY, content BLOB NOT NULL)');
  db.exec('CREATE TABLE IF NOT EXISTS places (output TEXT PRIMARY KEY, pack INTEGER NOT NULL) WITHOUT ROWID');
}

function tablesOf(db: Db) {
  const { run, insert, all, one } = sql(db);
  return {
    code: one('SELECT code FROM maker', text),
    setCode: run('INSERT INTO maker VALUES (?)'),
    holding: all(
      `SELECT content FROM packs WHERE n IN
         (SELECT p.pack FROM json_each(?) wanted CROSS JOIN places p ON p.output = wanted.value)`,
      bytes,
    ),
    count: one('SELECT count(*) FROM places', integer),
    add: insert('INSERT INTO packs (content) VALUES (?)'),
    place: run('INSERT OR REPLACE INTO places SELECT value, ?1 FROM json_each(?2)'),
    forget: run('DELETE FROM places WHERE output NOT IN (SELECT value FROM json_each(?))'),
    dropEmpty: run('DELETE FROM packs WHERE n NOT IN (SELECT pack FROM places)'),
  };
}

import { chmodSync, existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../files/durable-file.ts';
import type { PackStore } from '../press/press-cache.ts';

/** How long a read or write waits for another thread, in ms: a thousand times as long as it has to. */
const BUSY_TIMEOUT = 100;
/** How much of the file a connection keeps in memory, in KiB. */
const CACHE = 1_024;
/** In bytes. Packs have some 100 KB. */
const PAGE_SIZE = 16_384;
/** How many pages the write-ahead log has before they are moved into the file: 16 MB. */
const CHECKPOINT_PAGES = 1_000;

/** SQLite's codes for a database that is locked (SQLITE_BUSY, SQLITE_LOCKED). */
const LOCKED = new Set([5, 6]);

/**
 * The packs of one paper's press cache, in a database of its own: all of it can be made again, so it belongs neither in
 * the ledger's database nor in backups. It is opened when it is first used. When it is damaged, or other code made it,
 * it is removed; while somebody else has it locked, nothing is read or written.
 *
 * By Node's own SQLite: libSQL's driver ends the process where a damaged file has text that is not UTF-8.
 */
export class PackFile implements PackStore {
  readonly #file: string;
  readonly #code: string;
  /** Null when it cannot be used. */
  #connection: Connection | null | undefined;

  /** `code` identifies the code that makes what is cached. */
  constructor(file: string, code: string) {
    this.#file = file;
    this.#code = code;
  }

  *packsWith(outputs: readonly string[]): Iterable<Uint8Array> {
    const packs = this.#attempt(({ packs }) => packs.all(JSON.stringify(outputs))) ?? [];
    for (const { pack } of packs) {
      const content = this.#attempt(({ content }) => content.get(Number(pack))?.content);
      if (content instanceof Uint8Array) yield content;
    }
  }

  add(outputs: readonly string[], pack: Uint8Array): void {
    this.#transact(({ add, place }) => place.run(add.run(pack).lastInsertRowid, JSON.stringify(outputs)));
  }

  remove(outputs: readonly string[]): void {
    this.#transact(({ remove }) => remove.run(JSON.stringify(outputs)));
  }

  tidy(): void {
    this.#transact(({ dropEmpty }) => dropEmpty.run());
  }

  clear(): void {
    this.#giveUp(true);
  }

  close(): void {
    this.#connection?.db.close();
    this.#connection = null;
  }

  #connect(): Connection | null {
    // What is damaged, or of other code, is removed by the first attempt.
    for (let attempt = 1; attempt <= 2; attempt++) {
      try {
        makeFolder(dirname(this.#file), 0o700);
        const connection = connect(this.#file, this.#code);
        if (connection !== null) return connection;
        removePacks(this.#file);
      } catch (error) {
        this.#giveUp(!isLocked(error));
      }
    }
    return null;
  }

  #transact(work: (connection: Connection) => void): void {
    this.#attempt((connection) => {
      const { db } = connection;
      db.exec('BEGIN IMMEDIATE');
      try {
        work(connection);
        db.exec('COMMIT');
      } catch (error) {
        // SQLite itself rolls back after some errors, such as a full disk.
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #attempt<T>(work: (connection: Connection) => T): T | undefined {
    if (this.#connection === undefined) this.#connection = this.#connect();
    if (this.#connection === null) return undefined;
    try {
      return work(this.#connection);
    } catch (error) {
      this.#giveUp(!isLocked(error));
      return undefined;
    }
  }

  #giveUp(removes: boolean): void {
    try {
      this.close();
      if (removes) removePacks(this.#file);
    } catch {
      // It stays, and the next press tries again.
    }
  }
}

/** The code that made what a file holds; null when there is none, or it cannot be read. Changes nothing. */
export function codeOfPacks(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT });
    try {
      return String(db.prepare('SELECT code FROM made_by').get()?.code ?? '') || null;
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

function isLocked(error: unknown): boolean {
  // The lowest byte of an extended code.
  return LOCKED.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** Removes the file, and those that SQLite has beside it, or whatever else is in their place. */
function removePacks(file: string): void {
  for (const side of ['', '-wal', '-shm', '-journal']) rmSync(file + side, { force: true, recursive: true });
}

type Connection = NonNullable<ReturnType<typeof connect>>;

/** Null when other code made what the file holds. */
function connect(file: string, code: string) {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
  try {
    db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = NORMAL');
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.exec(`PRAGMA cache_size = -${CACHE}`);
    db.exec('CREATE TABLE IF NOT EXISTS made_by (code TEXT NOT NULL)');
    db.exec('CREATE TABLE IF NOT EXISTS packs (n INTEGER PRIMARY KEY, content BLOB NOT NULL)');
    db.exec('CREATE TABLE IF NOT EXISTS entries (output TEXT PRIMARY KEY, pack INTEGER NOT NULL) WITHOUT ROWID');
    chmodSync(file, 0o600);
    db.prepare('INSERT INTO made_by SELECT ? WHERE NOT EXISTS (SELECT * FROM made_by)').run(code);
    if (db.prepare('SELECT code FROM made_by').get()?.code !== code) {
      db.close();
      return null;
    }
    return {
      db,
      packs: db.prepare(
        `SELECT DISTINCT e.pack FROM json_each(?) wanted CROSS JOIN entries e ON e.output = wanted.value ORDER BY e.pack`,
      ),
      content: db.prepare('SELECT content FROM packs WHERE n = ?'),
      add: db.prepare('INSERT INTO packs (content) VALUES (?)'),
      place: db.prepare('INSERT OR REPLACE INTO entries SELECT value, ?1 FROM json_each(?2)'),
      remove: db.prepare('DELETE FROM entries WHERE output IN (SELECT value FROM json_each(?))'),
      dropEmpty: db.prepare('DELETE FROM packs WHERE n NOT IN (SELECT pack FROM entries)'),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

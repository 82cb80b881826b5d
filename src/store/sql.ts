import type Database from 'libsql';
import { Fault, isLocked } from '../fault.ts';
import { hasUnstorable, unstorable } from '../storable.ts';

/** A bound value. The driver silently binds `undefined` as NULL, and crashes the process on a boolean. */
export type Param = string | number | bigint | null | Uint8Array;

/** Reads the value of a column. Throws when it has another type. */
export type Column<T> = (value: unknown) => T;

/** How to read a row: only its first column, or an object of the named columns. */
export type Reading = Column<unknown> | Readonly<Record<string, Column<unknown>>>;

/** The type of a row that is read in this way. */
export type Read<R> =
  R extends Column<infer T> ? T : { -readonly [K in keyof R]: R[K] extends Column<infer T> ? T : never };

/** Runs `work` in one transaction, which writes everything or nothing. */
export type Transact = <T>(work: () => T) => T;

/**
 * Statements, prepared when they are first used: a press uses few of hundreds. Calls take the parameters in their order,
 * and every row is checked against its `Reading`.
 */
export interface Sql {
  /** Returns the number of changed rows. */
  run(text: string): (...params: Param[]) => number;
  /** Inserts a row, and returns its number. */
  insert(text: string): (...params: Param[]) => number;
  /** Returns the first row, optionally converted by `make`; null when there is none. */
  one<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R> | null;
  one<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T | null;
  all<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R>[];
  all<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T[];
  /** Yields one row at a time, for results that do not fit into memory. Finish one iteration before the next begins. */
  each<R extends Reading>(text: string, reading: R): (...params: Param[]) => Iterable<Read<R>>;
}

/** Called for a connection that does not get the database's lock. */
const lockListeners = new WeakMap<Database.Database, () => void>();

/** Calls `listener` whenever a transaction of this connection cannot begin because another process has the lock. */
export function onLocked(db: Database.Database, listener: () => void): void {
  lockListeners.set(db, listener);
}

const eagerly = new WeakSet<Database.Database>();

/** Has every statement of a connection prepared when it is made, so that one with a fault is found without being used. */
export function prepareEagerly(db: Database.Database): void {
  eagerly.add(db);
}

/** Begins a transaction that writes. */
export function beginWriting(db: Database.Database): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (isLocked(error)) lockListeners.get(db)?.();
    throw error;
  }
}

/** Runs a statement that writes, in a transaction of its own if there is none. */
function writing<T>(db: Database.Database, statement: () => T): T {
  // The driver ends the process when it is asked this of a connection that is closed.
  if (db.open && db.inTransaction) return statement();
  beginWriting(db);
  try {
    const result = statement();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite itself rolls back after some errors, such as a full disk.
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

const WRITES = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;
/** Statements that take texts out of JSON. */
const UNPACKS = /\bjson_(?:each|tree|extract)\b/i;

/**
 * How a statement's parameters are checked before it runs. A write stores texts exactly or refuses them; what only
 * reads may ask for any text, and finds nothing.
 */
function checkOf(text: string): (params: Param[]) => void {
  const isWrite = WRITES.test(text);
  const unpacks = UNPACKS.test(text);
  if (!isWrite && !unpacks) return () => {};
  return (params) => {
    for (const param of params) {
      if (typeof param !== 'string') continue;
      const why = isWrite ? unstorable(param) : null;
      if (why !== null) throw new Fault('invalid_request', `${JSON.stringify(param.slice(0, 80))} ${why}`);
      if (unpacks && hasUnstorable(param)) {
        throw new Fault('invalid_request', 'a text holds U+0000 or half of a surrogate pair; leave it out');
      }
    }
  };
}

/**
 * Hides the pitfalls of the driver:
 * - `get` adds a member `_metadata` to rows, and rows have no prototype: rows are read as arrays;
 * - a single parameter that is null or an object is taken for named parameters: all parameters go into one array;
 * - `get` after `all` on the same statement returns the row of the previous call: each statement is used in only one
 *   way;
 * - `get` stops after one row and drops the error of the commit that follows: writes are read to their end;
 * - a write outside a transaction that does not get the lock keeps its connection from committing anything until it is
 *   run again: every write is in a transaction;
 * - a text is read only up to U+0000, and one that is not UTF-8 ends the process: no statement stores or unpacks such a
 *   text (see `requireStorable`);
 * - integers past 2⁵³ are rounded, and a blob is a Buffer or an ArrayBuffer: `integer` and `bytes` handle both.
 */
export function sql(db: Database.Database): Sql {
  const once = <T>(prepare: () => T): (() => T) => {
    let made: T | undefined = eagerly.has(db) ? prepare() : undefined;
    return () => {
      made ??= prepare();
      return made;
    };
  };
  const prepared = (text: string) => once(() => db.prepare(text));
  const reader = (text: string, reading: Reading, make: (read: never) => unknown = (read) => read) =>
    once(() => {
      const statement = db.prepare(text).raw();
      const read = rowReader(
        text,
        statement.columns().map(({ name }) => name),
        reading,
      );
      return { statement, read: (row: unknown) => make(read(row as unknown[]) as never) as never };
    });
  return {
    run(text) {
      const statement = prepared(text);
      const check = checkOf(text);
      return (...params) => {
        check(params);
        return writing(db, () => statement().run(params).changes);
      };
    },
    insert(text) {
      const statement = prepared(text);
      const check = checkOf(text);
      // Cheaper than RETURNING, which the driver reads as rows.
      return (...params) => {
        check(params);
        return writing(db, () => Number(statement().run(params).lastInsertRowid));
      };
    },
    one(text: string, reading: Reading, make?: (read: never) => unknown) {
      const readingStatement = reader(text, reading, make);
      const isWrite = WRITES.test(text);
      const check = checkOf(text);
      return (...params: Param[]) => {
        check(params);
        const { statement, read } = readingStatement();
        const row = isWrite ? writing(db, () => statement.all(params)[0]) : statement.get(params);
        return row === undefined ? null : read(row);
      };
    },
    all(text: string, reading: Reading, make?: (read: never) => unknown) {
      const readingStatement = reader(text, reading, make);
      const isWrite = WRITES.test(text);
      const check = checkOf(text);
      return (...params: Param[]) => {
        check(params);
        const { statement, read } = readingStatement();
        const rows = isWrite ? writing(db, () => statement.all(params)) : statement.all(params);
        return rows.map(read);
      };
    },
    each(text, reading) {
      const readingStatement = reader(text, reading);
      return function* (...params) {
        const { statement, read } = readingStatement();
        for (const row of statement.iterate(params)) yield read(row);
      };
    },
  };
}

/**
 * Finds the columns once, so that a statement without a required column fails when it is prepared, not at its first
 * row.
 */
function rowReader(text: string, names: string[], reading: Reading): (row: unknown[]) => unknown {
  const wanted = typeof reading === 'function' ? [[names[0] ?? '', reading] as const] : Object.entries(reading);
  const columns = wanted.map(([name, read]) => ({ name, read, at: names.indexOf(name) }));
  const lacking = columns.find(({ at }) => at === -1);
  if (lacking !== undefined) throw new TypeError(`no column ${lacking.name} in: ${text}`);
  const value = ({ name, read, at }: (typeof columns)[number], row: unknown[]): unknown => {
    try {
      return read(row[at]);
    } catch (error) {
      throw new TypeError(`column ${name}: ${error instanceof Error ? error.message : error}, in: ${text}`);
    }
  };
  const [only] = columns;
  if (typeof reading === 'function' && only !== undefined) return (row) => value(only, row);
  return (row) => {
    const found: Record<string, unknown> = {};
    for (const column of columns) found[column.name] = value(column, row);
    return found;
  };
}

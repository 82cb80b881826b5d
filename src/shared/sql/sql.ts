import type Database from 'libsql';
import { Fault, isLocked, messageOf } from '../fault.ts';
import { hasUnstorable, unstorable } from '../storable.ts';

export type Db = Database.Database;

/** A bound value. The driver silently binds `undefined` as NULL, and crashes the process on a boolean. */
export type Param = string | number | bigint | null | Uint8Array;

/** Reads the value of a column. Throws when it has another type. */
type Column<T> = (value: unknown) => T;

/** How to read a row: only its first column, or an object of the named columns; and the type of what is read. */
type Reading = Column<unknown> | Readonly<Record<string, Column<unknown>>>;
export type Read<R> =
  R extends Column<infer T> ? T : { -readonly [K in keyof R]: R[K] extends Column<infer T> ? T : never };

/** Runs `work` in one transaction, which writes everything or nothing. */
export type Transact = <T>(work: () => T) => T;

export const text: Column<string> = (value) => (typeof value === 'string' ? value : unlike('a text', value));

/** A safe integer. */
export const integer: Column<number> = (value) =>
  Number.isSafeInteger(value) ? Number(value) : unlike('a whole number', value);

/** 0 or 1. */
export const flag: Column<boolean> = (value) => (value === 1 || value === 0 ? value === 1 : unlike('0 or 1', value));

/** A copy of the driver's bytes. */
export const bytes: Column<Uint8Array> = (value) =>
  value instanceof Uint8Array || value instanceof ArrayBuffer ? new Uint8Array(value) : unlike('bytes', value);

/** JSON that this program wrote, as type `T`. */
export function json<T>(): Column<T> {
  return (value) => JSON.parse(text(value));
}

/** One of these words. */
export function oneOf<const W extends string>(...words: readonly W[]): Column<W> {
  const known = new Map<unknown, W>(words.map((word) => [word, word]));
  return (value) => known.get(value) ?? unlike(words.join(' or '), value);
}

export function orNull<T>(column: Column<T>): Column<T | null> {
  return (value) => (value === null ? null : column(value));
}

function unlike(kind: string, value: unknown): never {
  throw new TypeError(`${JSON.stringify(value)} is not ${kind}`);
}

const quoted = (name: string): string => `"${name}"`;

/** The names of the columns of a reading, separated by commas; of one table in a query of several, by its alias. */
export function columnsOf(reading: object, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`;
  return Object.keys(reading)
    .map((name) => prefix + quoted(name))
    .join(', ');
}

/** Names of columns, or the reading of a row that has them. */
type Columns<C extends string> = readonly C[] | Readonly<Record<C, unknown>>;

function namesIn<C extends string>(columns: Columns<C>): readonly C[] {
  return Array.isArray(columns) ? columns : (Object.keys(columns) as C[]);
}

type Insert<C extends string> = (row: Readonly<Record<C, Param | boolean | object>>) => number;

/**
 * Statements, prepared when they are first used: a press uses few of hundreds. Calls take the parameters in their
 * order, and every row is checked against its `Reading`.
 */
interface Sql {
  /** Returns the number of changed rows. */
  run(text: string): (...params: Param[]) => number;
  /** Returns whether a row was changed. */
  changed(text: string): (...params: Param[]) => boolean;
  /**
   * Inserts an object as a row: booleans as 0 and 1, lists and other objects as JSON. Returns the number of changed
   * rows.
   */
  insert<C extends string>(table: string, columns: Columns<C>, end?: string): Insert<C>;
  /** Inserts an object as a row, or sets `columns` in the row that has its `key`. */
  upsert<K extends string, C extends string>(table: string, key: readonly K[], columns: Columns<C>): Insert<K | C>;
  /** Returns the first row, optionally converted by `make`; null when there is none. */
  one<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R> | null;
  one<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T | null;
  /** Returns whether there is a row. */
  has(text: string): (...params: Param[]) => boolean;
  /** Returns the number in the first column of the first row; 0 when there is none. */
  number(text: string): (...params: Param[]) => number;
  all<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R>[];
  all<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T[];
  /** Yields one row at a time, for results that do not fit into memory. Finish one iteration before the next begins. */
  each<R extends Reading>(text: string, reading: R): (...params: Param[]) => Iterable<Read<R>>;
}

/** Yields rows that are read in batches, to bound memory: `read` returns those after the position of a row. */
export function* inBatches<Row>(
  read: (...position: Param[]) => Row[],
  first: readonly Param[],
  positionOf: (row: Row) => readonly Param[],
): Iterable<Row> {
  let rows = read(...first);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield* rows;
    rows = read(...positionOf(last));
  }
}

const lockListeners = new WeakMap<Db, () => void>();

/** Calls `listener` whenever a transaction of this connection cannot begin because another process has the lock. */
export function onLocked(db: Db, listener: () => void): void {
  lockListeners.set(db, listener);
}

const eagerly = new WeakSet<Db>();

/** Prepares every statement of a connection when it is created, so that a faulty one is found before it is used. */
export function prepareEagerly(db: Db): void {
  eagerly.add(db);
}

/** Begins a transaction that writes. */
export function beginWriting(db: Db): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (isLocked(error)) lockListeners.get(db)?.();
    throw error;
  }
}

/** Whether a transaction is open. Asking the driver about a closed connection would end the process. */
export const isInTransaction = (db: Db): boolean => db.open && db.inTransaction;

export function rollBack(db: Db): void {
  // SQLite itself rolls back after some errors, such as a full disk.
  if (isInTransaction(db)) db.exec('ROLLBACK');
}

/** Runs a statement that writes, in a transaction of its own if there is none. */
function writing<T>(db: Db, statement: () => T): T {
  if (isInTransaction(db)) return statement();
  beginWriting(db);
  try {
    const result = statement();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

const WRITES = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;
const UNPACKS = /\bjson_(?:each|tree|extract)\b/i;

/**
 * Returns the check of a statement's parameters before it runs. Writes store texts exactly or reject them. Reads accept
 * any text, and find no row with one that cannot be stored.
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
export function sql(db: Db): Sql {
  const once = <T>(prepare: () => T): (() => T) => {
    let made: T | undefined = eagerly.has(db) ? prepare() : undefined;
    return () => {
      made ??= prepare();
      return made;
    };
  };
  const reader = (text: string, reading: Reading, make: (read: never) => unknown = (read) => read) =>
    once(() => {
      const statement = db.prepare(text).raw();
      const names = statement.columns().map(({ name }) => name);
      const read = rowReader(text, names, reading);
      return { statement, read: (row: unknown) => make(read(row as unknown[]) as never) as never };
    });
  const run: Sql['run'] = (text) => {
    const statement = once(() => db.prepare(text));
    const check = checkOf(text);
    return (...params) => {
      check(params);
      return writing(db, () => statement().run(params).changes);
    };
  };
  const find = (isOne: boolean, text: string, reading: Reading, make?: (read: never) => unknown) => {
    const prepared = reader(text, reading, make);
    const isWrite = WRITES.test(text);
    const check = checkOf(text);
    return (params: Param[]): never[] => {
      check(params);
      const { statement, read } = prepared();
      if (isWrite) return writing(db, () => statement.all(params)).map(read);
      if (!isOne) return statement.all(params).map(read);
      const row = statement.get(params);
      return row === undefined ? [] : [read(row)];
    };
  };
  const one: Sql['one'] = (text: string, reading: Reading, make?: (read: never) => unknown) => {
    const found = find(true, text, reading, make);
    return (...params: Param[]) => found(params)[0] ?? null;
  };
  const insert: Sql['insert'] = (table, columns, end = '') => {
    const names = namesIn(columns);
    const placeholders = names.map(() => '?').join(', ');
    const put = run(`INSERT INTO ${table} (${names.map(quoted).join(', ')}) VALUES (${placeholders}) ${end}`);
    return (row: Readonly<Record<string, Param | boolean | object>>) =>
      put(...names.map((name) => bound(table, name, row[name])));
  };
  return {
    run,
    changed(text) {
      const change = run(text);
      return (...params) => change(...params) > 0;
    },
    insert,
    upsert(table, key, columns) {
      const names = namesIn(columns);
      const values = names.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ');
      return insert(table, [...key, ...names], `ON CONFLICT (${key.map(quoted).join(', ')}) DO UPDATE SET ${values}`);
    },
    one,
    has(text) {
      const found = one(text, (value) => value !== undefined);
      return (...params) => found(...params) !== null;
    },
    number(text) {
      const found = one(text, orNull(integer));
      return (...params) => found(...params) ?? 0;
    },
    all(text: string, reading: Reading, make?: (read: never) => unknown) {
      const found = find(false, text, reading, make);
      return (...params: Param[]) => found(params);
    },
    each(text, reading) {
      const prepared = reader(text, reading);
      return function* (...params) {
        const { statement, read } = prepared();
        for (const row of statement.iterate(params)) yield read(row);
      };
    },
  };
}

function bound(table: string, name: string, value: Param | boolean | object | undefined): Param {
  if (value === undefined) throw new TypeError(`column ${name} of ${table} has no value`);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) ? JSON.stringify(value) : value;
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
      throw new TypeError(`column ${name}: ${messageOf(error)}, in: ${text}`);
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

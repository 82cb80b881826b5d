import type Database from 'libsql';

/** A bound value. The driver silently binds `undefined` as NULL, and a boolean crashes the process. */
export type Param = string | number | bigint | null | Uint8Array;

/** Reads one column's value; throws when it is of another kind. */
export type Column<T> = (value: unknown) => T;

/** How a row is read: its first column by itself, or an object of the columns that are named. */
export type Reading = Column<unknown> | Readonly<Record<string, Column<unknown>>>;

/** What a reading makes of a row. */
export type Read<R> =
  R extends Column<infer T> ? T : { -readonly [K in keyof R]: R[K] extends Column<infer T> ? T : never };

/** Runs `work` in one transaction: all of it is written, or nothing. */
export type Transact = <T>(work: () => T) => T;

/** Prepares statements. Each call takes the parameters in their order; no row leaves unread. */
export interface Sql {
  /** Gives the number of changed rows. */
  run(text: string): (...params: Param[]) => number;
  /** Gives the first row, as `make` turns it into something else; null when there is none. */
  one<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R> | null;
  one<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T | null;
  all<R extends Reading>(text: string, reading: R): (...params: Param[]) => Read<R>[];
  all<R extends Reading, T>(text: string, reading: R, make: (read: Read<R>) => T): (...params: Param[]) => T[];
  /** One row at a time, for more than fit into memory. One iteration has to end before the next begins. */
  each<R extends Reading>(text: string, reading: R): (...params: Param[]) => Iterable<Read<R>>;
}

const WRITES = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;

/**
 * Hides what the driver does otherwise than one expects:
 * - a row read by `get` has a member `_metadata`, and rows have no prototype: rows are read as arrays;
 * - a parameter alone that is null or an object counts as named parameters: all go in one array;
 * - `get` after `all` on the same statement gives the row of the call before: a statement is used in one way only;
 * - `get` stops after a row and drops the error of the commit that follows: writes are read to their end;
 * - an integer past 2⁵³ is rounded, and a blob is a Buffer or an ArrayBuffer: `integer` and `bytes` take care.
 */
export function sql(db: Database.Database): Sql {
  const prepare = (text: string, reading: Reading, make: (read: never) => unknown = (read) => read) => {
    const statement = db.prepare(text).raw();
    const read = rowReader(
      text,
      statement.columns().map(({ name }) => name),
      reading,
    );
    return { statement, read: (row: unknown) => make(read(row as unknown[]) as never) as never };
  };
  return {
    run(text) {
      const statement = db.prepare(text);
      return (...params) => statement.run(params).changes;
    },
    one(text: string, reading: Reading, make?: (read: never) => unknown) {
      const { statement, read } = prepare(text, reading, make);
      const first = WRITES.test(text)
        ? (params: Param[]) => statement.all(params)[0]
        : (params: Param[]) => statement.get(params);
      return (...params: Param[]) => {
        const row = first(params);
        return row === undefined ? null : read(row);
      };
    },
    all(text: string, reading: Reading, make?: (read: never) => unknown) {
      const { statement, read } = prepare(text, reading, make);
      return (...params: Param[]) => statement.all(params).map(read);
    },
    each(text, reading) {
      const { statement, read } = prepare(text, reading);
      return function* (...params) {
        for (const row of statement.iterate(params)) yield read(row);
      };
    },
  };
}

/** Finds the columns once: a statement that lacks one fails when it is prepared, not when its first row comes. */
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

import { constants, DatabaseSync } from 'node:sqlite';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { messageOf } from '../../shared/fault.ts';
import { QUERY_READABLE, QUERY_VIEWS } from './query-views.ts';

// Runs queries in a child process. It opens the file read-only with Node's SQLite, whose authorizer limits what a
// query reads; that of libSQL cannot restrict functions.

export interface QueryTask {
  file: string;
  sql: string;
  /** The time limit, in ms, and the memory limit, in bytes. */
  time: number;
  memory: number;
  maxRows: number;
  /** The maximum size of all rows together, in characters of JSON. */
  maxSize: number;
}

/** A value on the wire. Integers past 2⁵³ are texts, and blobs are in base64. */
export type QueryValue = string | number | null | { base64: string };

export type QueryAnswer =
  | { columns: string[]; rows: QueryValue[][]; truncated: false | 'rows' | 'size' }
  /** The error from SQLite, or that the query is not a SELECT. */
  | { refusal: string }
  /** The limit of time or memory at which its process was ended. */
  | { overrun: string }
  | { broken: string };

/** The longest text or blob that a query may create, in bytes, and the most columns. */
const LONGEST = 4_000_000;
const COLUMNS = 200;

/** The interval at which the memory is checked, in ms. */
const WATCH_EVERY = 50;

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;

const VIEWS = new Set(QUERY_VIEWS.map(({ name }) => name));
/** Table-valued functions over text that the query itself supplies. */
const JSON_TABLES = new Set(['json_each', 'json_tree']);
/** Functions with access beyond the query or to SQLite's internals. */
const BARRED = /^(?:load_extension|fts|sqlite_|edit$|readfile|writefile)/i;

/**
 * Allows SELECT, plain functions and the listed columns, and denies everything else, including actions of future SQLite
 * versions. `tables` are all tables of the database, in lower case, because SQLite passes names as the query spells
 * them.
 */
function authorizer(tables: ReadonlySet<string>): Parameters<DatabaseSync['setAuthorizer']>[0] {
  const mayRead = (table: string, column: string, schema: string | null): boolean => {
    const columns = Object.hasOwn(QUERY_READABLE, table) ? QUERY_READABLE[table] : undefined;
    // The query reads no column of this table, for example to count rows. SQLite reports subqueries of the query in the
    // same way, under their names.
    if (column === '') return columns !== undefined || !(tables.has(table) || table.startsWith('sqlite_'));
    if (schema === 'temp') return VIEWS.has(table);
    if (JSON_TABLES.has(table)) return true;
    return columns !== undefined && (column === 'ROWID' || columns.includes(column));
  };
  return (action, first, second, schema) => {
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_FUNCTION:
        return BARRED.test(second ?? '') ? SQLITE_DENY : SQLITE_OK;
      case SQLITE_READ:
        return mayRead((first ?? '').toLowerCase(), second ?? '', schema) ? SQLITE_OK : SQLITE_DENY;
      default:
        return SQLITE_DENY;
    }
  };
}

if (isMainThread) {
  // Runs queries in a worker, so that the main thread can react: a thread that runs SQLite stops only when its process
  // ends.
  const kill = () => process.kill(process.pid, 'SIGKILL');
  const queries = new Worker(new URL(import.meta.url)).once('error', kill);
  process.once('disconnect', kill);
  process.on('message', (task: QueryTask) => {
    const overrun = (words: string) => process.send?.({ overrun: words } satisfies QueryAnswer, kill);
    const late = setTimeout(() => overrun(`it took more than ${task.time / 1_000} seconds`), task.time);
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() > task.memory) overrun(`it took more than ${task.memory / 1e6} MB of memory`);
    }, WATCH_EVERY);
    queries.once('message', (answer: QueryAnswer) => {
      clearTimeout(late);
      clearInterval(watch);
      process.send?.(answer);
    });
    queries.postMessage(task);
  });
} else {
  let db: DatabaseSync | undefined;
  parentPort?.on('message', (task: QueryTask) => {
    try {
      db ??= open(task.file);
    } catch (error) {
      parentPort?.postMessage({ broken: messageOf(error) } satisfies QueryAnswer);
      return;
    }
    parentPort?.postMessage(answer(db, task));
  });
}

function answer(db: DatabaseSync, task: QueryTask): QueryAnswer {
  try {
    return run(db, task);
  } catch (error) {
    return { refusal: messageOf(error) };
  }
}

function open(file: string): DatabaseSync {
  const limits = { length: LONGEST, column: COLUMNS, attach: 0, exprDepth: 200, compoundSelect: 50 };
  const db = new DatabaseSync(file, { readOnly: true, timeout: 1_000, limits });
  if (typeof db.setAuthorizer !== 'function') throw new Error('queries need Node 24.10 or newer');
  // Sorting stays in memory, where the memory limit applies.
  db.exec('PRAGMA temp_store = MEMORY');
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").all() as {
    name: string;
  }[];
  for (const { name, sql } of QUERY_VIEWS) db.exec(`CREATE TEMP VIEW "${name}" AS ${sql}`);
  db.exec('PRAGMA query_only = ON');
  db.setAuthorizer(authorizer(new Set(tables.map(({ name }) => name.toLowerCase()))));
  return db;
}

function run(db: DatabaseSync, { sql, maxRows, maxSize }: QueryTask): QueryAnswer {
  const statement = db.prepare(sql);
  const columns = statement.columns().map(({ name }) => name);
  if (columns.length === 0) return { refusal: 'it gives no rows; send a SELECT' };
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const rows: QueryValue[][] = [];
  let size = 0;
  for (const found of statement.iterate() as unknown as Iterable<unknown[]>) {
    if (rows.length === maxRows) return { columns, rows, truncated: 'rows' };
    const row = found.map(wireValue);
    size += JSON.stringify(row).length;
    if (size > maxSize) return { columns, rows, truncated: 'size' };
    rows.push(row);
  }
  return { columns, rows, truncated: false };
}

function wireValue(value: unknown): QueryValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  // JSON cannot represent an infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  return value as string | null;
}

import { constants } from 'node:sqlite';
import { QUERY_READABLE, QUERY_VIEWS } from './query-views.ts';

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;

const VIEWS = new Set(QUERY_VIEWS.map(({ name }) => name));
/** Tables that are made of a text that the query itself gives. */
const JSON_TABLES = new Set(['json_each', 'json_tree']);
/** Functions that reach out of the query, or into SQLite itself. */
const BARRED = /^(?:load_extension|fts|sqlite_|edit$|readfile|writefile)/i;

/** SQLite's question whether a statement may do something, asked while it is prepared. */
export type Authorizer = (action: number, first: string | null, second: string | null, schema: string | null) => number;

/**
 * A statement may select, call plain functions and read what is listed. Whatever
 * else there is, or will be, is denied. `tables` are all that the database
 * has, in lower case: SQLite tells a name as the query spells it.
 */
export function authorizer(tables: ReadonlySet<string>): Authorizer {
  const mayRead = (table: string, column: string, schema: string | null): boolean => {
    const columns = Object.hasOwn(QUERY_READABLE, table) ? QUERY_READABLE[table] : undefined;
    // Rows are only counted. A part of the query itself is told like this too, by its name.
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

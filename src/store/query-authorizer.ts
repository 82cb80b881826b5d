import { constants } from 'node:sqlite';
import { QUERY_READABLE, QUERY_VIEWS } from './query-views.ts';

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;

const VIEWS = new Set(QUERY_VIEWS.map(({ name }) => name));
/** Table-valued functions over text that the query itself supplies. */
const JSON_TABLES = new Set(['json_each', 'json_tree']);
/** Functions with access beyond the query or to SQLite's internals. */
const BARRED = /^(?:load_extension|fts|sqlite_|edit$|readfile|writefile)/i;

/**
 * The callback that SQLite calls for each action while it prepares a statement, to ask whether the action is allowed.
 */
export type Authorizer = (action: number, first: string | null, second: string | null, schema: string | null) => number;

/**
 * Allows SELECT, plain functions and the listed columns, and denies everything else, including actions of future SQLite
 * versions. `tables` are all tables of the database, in lower case, because SQLite passes names as the query spells
 * them.
 */
export function authorizer(tables: ReadonlySet<string>): Authorizer {
  const mayRead = (table: string, column: string, schema: string | null): boolean => {
    const columns = Object.hasOwn(QUERY_READABLE, table) ? QUERY_READABLE[table] : undefined;
    // The query only counts rows. SQLite also reports a subquery of the query itself in this way, under its name.
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

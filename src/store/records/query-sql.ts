import { Fault } from '../../shared/fault.ts';

/**
 * Quoted text, comments, and statement separators. An unclosed one extends to the end, as in SQLite; searching for the
 * end again at each opening mark would take quadratic time.
 */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** Throws `invalid_request` for more than one statement: SQLite would run only the first and ignore the rest. */
export function requireOneStatement(sql: string): void {
  const bare = sql.replace(TOKEN, (token) => {
    if (token === ';') return token;
    return token.startsWith('--') || token.startsWith('/*') ? ' ' : 'x';
  });
  if (/;\s*[^\s;]/.test(bare)) {
    throw new Fault('invalid_request', 'sql: it has more than one statement; send one at a time', { field: 'sql' });
  }
  if (/^[\s;]*$/.test(bare)) {
    throw new Fault('invalid_request', 'sql: it is empty; send a SELECT', { field: 'sql' });
  }
}

import { Fault } from '../fault.ts';

/**
 * What is in quotation marks, what is in comments, and what parts statements. What
 * is not closed reaches to the end, as SQLite has it: looking for the end again from
 * each mark would take time that grows with the square of the text.
 */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** Throws `invalid_request` for more than one statement: SQLite would run the first and forget the rest. */
export function needOneStatement(sql: string): void {
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

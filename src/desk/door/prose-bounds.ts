import markdownit from 'markdown-it';
import type { Problem } from '../../shared/shape.ts';
import { problem } from '../../shared/shown-text.ts';
import { footnotes } from './footnotes.ts';
import { ANGLES_MAX, LINES_MAX, MARKUP_MAX, NESTING_MAX } from './piece.ts';

/**
 * The limits that a prose exceeds; empty if it can be parsed in bounded work. Counts characters, lines and levels, so
 * the result never depends on the machine. Takes time linear in the length of the prose.
 */
export function excessIn(prose: string): Problem[] {
  const count = (character: string): number => prose.split(character).length - 1;
  const lines = count('\n') + 1;
  const counts = Object.entries(MARKUP).map(([name, characters]) => ({
    name,
    number: sum([...characters].map(count)),
  }));
  const markup = sum(counts.map(({ number }) => number));
  const problems: Problem[] = [];
  if (lines > LINES_MAX) {
    problems.push(problem('prose', 'too_many_lines', `${lines} lines are more than ${LINES_MAX}; split the piece`));
  }
  if (markup > MARKUP_MAX) {
    const most = counts.reduce((most, one) => (one.number > most.number ? one : most));
    const message = `${markup} characters of mark-up (one of * _ ~ \` [ ] < & | \\, most of them ${most.name}: ${most.number}) are more than ${MARKUP_MAX}; split the piece, or use less mark-up`;
    problems.push(problem('prose', 'too_much_markup', message));
  }
  const angles = count('<');
  if (angles > ANGLES_MAX) {
    const message = `${angles} angle brackets (<) are more than ${ANGLES_MAX}; split the piece, or write fewer addresses in angle brackets`;
    problems.push(problem('prose', 'too_much_markup', message));
  }
  // Finding the nesting depth requires parsing the blocks, which is affordable once the number of lines is bounded.
  const deepest = problems.length === 0 ? tooDeepLine(prose) : null;
  if (deepest === null) return problems;
  const message = `more than ${NESTING_MAX} quotes and lists are nested in line ${deepest.line} of the prose; nest fewer`;
  return [problem('prose', 'nested_too_deep', message, deepest.offset)];
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The characters that begin and end inline constructs, by their names in messages. */
const MARKUP = {
  asterisks: '*',
  underscores: '_',
  tildes: '~',
  backticks: '`',
  'square brackets': '[]',
  'angle brackets': '<',
  ampersands: '&',
  'vertical bars': '|',
  backslashes: '\\',
};

/** Each quote or note takes one level of the parser, each list two. The parser drops blocks nested more deeply. */
const blocksOnly = markdownit({ html: false, maxNesting: 2 * NESTING_MAX + 3 }).use(footnotes);
blocksOnly.core.ruler.enableOnly(['normalize', 'block']);

/** Everything before the text of a line: the name of a note, indents, and the markers of quotes and lists. */
const PREFIX = /^(?: {0,3}\[\^[^\s\]]{1,64}\]:)?[ \t>*+\-\d.)]*/gm;

/** The first line where too many quotes and lists are nested; null when there is none. */
function tooDeepLine(prose: string): { line: number; offset: number } | null {
  // Each level takes at least one column, and a tab at most four, so most prose need not be parsed for this.
  let columns = 0;
  for (const [prefix] of prose.matchAll(PREFIX)) {
    columns = Math.max(columns, prefix.length + 3 * (prefix.split('\t').length - 1));
  }
  if (columns <= NESTING_MAX) return null;
  const state = new blocksOnly.core.State(prose, blocksOnly, {});
  blocksOnly.core.process(state);
  let depth = 0;
  for (const { type, nesting, map } of state.tokens) {
    if (!/^(?:blockquote|bullet_list|ordered_list)_/.test(type)) continue;
    depth += nesting;
    if (depth <= NESTING_MAX) continue;
    const line = map?.[0] ?? 0;
    return { line: line + 1, offset: prose.split('\n', line).join('\n').length + (line > 0 ? 1 : 0) };
  }
  return null;
}

/**
 * Maximum number of characters within square brackets, counted once per open bracket. The parser scans from every open
 * bracket to its end, so this number bounds the cost of parsing. A prose of 400,000 characters that consists only of
 * linked pictures reaches 800,000.
 */
export const BRACKETED_MAX = 2_000_000;

/** The number of characters within square brackets. An unclosed bracket extends to the end of the text. */
export function bracketed(text: string): number {
  let total = 0;
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x5b) open.push(at);
    else if (code === 0x5d) total += at - (open.pop() ?? at);
  }
  for (const at of open) total += text.length - at;
  return total;
}

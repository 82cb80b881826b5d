import markdownit from 'markdown-it';
import type { Problem } from '../fault.ts';
import { ANGLES_MAX, LINES_MAX, MARKUP_MAX, NESTING_MAX } from './piece.ts';

/**
 * What a prose has too much of to be parsed in bounded work; empty when it may be parsed. It counts characters, lines
 * and levels, so the answer never depends on the machine. Takes time linear in the length of the prose.
 */
export function excessIn(prose: string): Problem[] {
  const counts = countsOf(prose);
  const problems: Problem[] = [];
  const report = (rule: string, message: string, offset?: number): unknown =>
    problems.push({ field: 'prose', rule, message, ...(offset === undefined ? {} : { offset }) });
  if (counts.lines > LINES_MAX) {
    report('too_many_lines', `${counts.lines} lines are more than ${LINES_MAX}; split the piece`);
  }
  if (counts.markup > MARKUP_MAX) {
    const [most = '', number] = [...counts.of].sort(([, a], [, b]) => b - a)[0] ?? [];
    report(
      'too_much_markup',
      `${counts.markup} characters of mark-up (one of * _ ~ \` [ ] < & | \\, most of them ${most}: ${number}) are more than ${MARKUP_MAX}; split the piece, or use less mark-up`,
    );
  }
  const angles = counts.of.get('angle brackets') ?? 0;
  if (angles > ANGLES_MAX) {
    report(
      'too_much_markup',
      `${angles} angle brackets (<) are more than ${ANGLES_MAX}; split the piece, or write fewer addresses in angle brackets`,
    );
  }
  // Nesting is found by parsing the blocks, whose cost the number of lines bounds.
  const deepest = problems.length === 0 ? tooDeepLine(prose) : null;
  if (deepest !== null) {
    report(
      'nested_too_deep',
      `more than ${NESTING_MAX} quotes and lists are nested in line ${deepest.line} of the prose; nest fewer`,
      deepest.offset,
    );
  }
  return problems;
}

/** The characters by which constructs within a paragraph begin and end, and what they are called. */
const NAMES: Record<string, string> = {
  '*': 'asterisks',
  _: 'underscores',
  '~': 'tildes',
  '`': 'backticks',
  '[': 'square brackets',
  ']': 'square brackets',
  '<': 'angle brackets',
  '&': 'ampersands',
  '|': 'vertical bars',
  '\\': 'backslashes',
};

const NEWLINE = 0x0a;

function countsOf(prose: string): { lines: number; markup: number; of: Map<string, number> } {
  // By character code: a loop over matches takes as long as parsing what the door accepts.
  const seen = new Uint32Array(128);
  for (let at = 0; at < prose.length; at++) {
    const code = prose.charCodeAt(at);
    if (code < 128) seen[code] = (seen[code] ?? 0) + 1;
  }
  let markup = 0;
  const of = new Map<string, number>();
  for (const [character, name] of Object.entries(NAMES)) {
    const count = seen[character.charCodeAt(0)] ?? 0;
    markup += count;
    of.set(name, (of.get(name) ?? 0) + count);
  }
  return { lines: (seen[NEWLINE] ?? 0) + 1, markup, of };
}

/** Each quote takes a level of the parser, each list two. Deeper blocks are left out of its result. */
const blocksOnly = markdownit({ html: false, maxNesting: 2 * NESTING_MAX + 2 });
blocksOnly.core.ruler.enableOnly(['normalize', 'block']);

/** Everything before the text of a line: indents, and the markers of quotes and lists. */
const PREFIX = /^[ \t>*+\-\d.)]*/gm;

/** The first line where too many quotes and lists are nested; null when there is none. */
function tooDeepLine(prose: string): { line: number; offset: number } | null {
  // Each level takes a column at least, and a tab four at most, so most prose is not parsed for this.
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
 * Maximum number of characters within square brackets, counted once per open bracket. The parser scans from every
 * open bracket to its end, so this is the cost of parsing a prose. A prose of 400,000 characters, all of them in
 * linked pictures, reaches 800,000.
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

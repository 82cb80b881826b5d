/**
 * What a terminal would obey instead of showing it: C0 and C1 controls (a name that
 * moves the cursor rewrites the line above it), the line and paragraph separators,
 * and the marks that turn the reading direction.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text from elsewhere as one line that a terminal shows and does not obey: `\u001b` in the place of an escape. */
export function shown(text: string): string {
  return text.replace(OBEYED, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same of a text of several lines, such as a trace. */
export function shownLines(text: string): string {
  return text.split('\n').map(shown).join('\n');
}

/** A value as JSON on one line, or indented. Escapes within it stand for the same value. */
export function shownJson(value: unknown, indent?: number): string {
  return shownLines(JSON.stringify(value, null, indent));
}

/**
 * Characters that control a terminal: C0 and C1 controls (a name that moves the cursor can rewrite the line above it),
 * line and paragraph separators, and bidirectional marks.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Untrusted text as one line without control characters, which are written as `\u001b`. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for a text of several lines, such as a stack trace. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** A value as JSON, on one line or indented. The escapes keep its value the same. */
export function printableJson(value: unknown, indent?: number): string {
  return printableLines(JSON.stringify(value, null, indent));
}

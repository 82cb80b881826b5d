/** Controls (one that moves the cursor can rewrite the line above), separators, and bidirectional marks. */
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

/** Prints a command's outcome to standard output: as JSON with `--json`, else as lines. */
export function printResult(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${printableJson(value)}\n` : lines.map((line) => `${printable(line)}\n`).join(''));
}

/** Prints a line to standard error, such as a problem in one file. */
export function printError(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** The exit code when something could not be checked: no such file, no response, no keys, no policy. */
export const NOT_CHECKED = 2;

/** For `exitOverride`: commander exits with 1 for invalid usage, but in a command that checks, 1 means a fault. */
export function exitUnchecked({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : NOT_CHECKED);
}

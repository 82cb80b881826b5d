import { printable, printableJson } from './escape.ts';

/** Prints a command's outcome to standard output: as JSON with `--json`, else as lines. */
export function printResult(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${printableJson(value)}\n` : lines.map((line) => `${printable(line)}\n`).join(''));
}

/** Prints a line to standard error, such as a problem in one file. */
export function printError(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

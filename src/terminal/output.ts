import { shown, shownJson } from './escape.ts';

/** Prints a command's outcome to standard output: as JSON with `--json`, else as lines. */
export function say(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${shownJson(value)}\n` : lines.map((line) => `${shown(line)}\n`).join(''));
}

/** Prints a line to standard error, such as a problem in one file. */
export function tell(line: string): void {
  process.stderr.write(`${shown(line)}\n`);
}

import type { AppContext } from '../app/context.ts';
import { openAppContext } from '../app/context.ts';
import { readSettings } from '../env.ts';
import { shown, shownJson } from './terminal.ts';

/** Opens the workshop for one command and closes it after, whatever happens. */
export async function withAppContext<T>(work: (app: AppContext) => T | Promise<T>): Promise<T> {
  const app = openAppContext(readSettings());
  try {
    return await work(app);
  } catch (error) {
    throw app.store.fault(error);
  } finally {
    app.close();
  }
}

/** Prints a command's outcome: as JSON where that was asked, else as lines. Each is one line, whatever the data in it. */
export function say(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${shownJson(value)}\n` : lines.map((line) => `${shown(line)}\n`).join(''));
}

/** Prints a line beside the outcome, such as a problem of one file. */
export function tell(line: string): void {
  process.stderr.write(`${shown(line)}\n`);
}

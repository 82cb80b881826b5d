import { createInterface } from 'node:readline/promises';

/** Whether a person sits at the terminal and can be asked. */
export function isAnswering(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a question on the terminal. Returns the answer without surrounding spaces; an empty one at the end of input. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.close();
  }
}

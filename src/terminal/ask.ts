import { createInterface } from 'node:readline/promises';

/** Whether a person sits at the terminal and can be asked. */
export function isAnswering(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a question on the terminal. Returns the answer without surrounding spaces; null at the end of input. */
export async function ask(question: string): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    return (await Promise.race([lines.question(question), ended]))?.trim() ?? null;
  } finally {
    lines.close();
  }
}

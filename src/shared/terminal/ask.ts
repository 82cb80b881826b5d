import { createInterface } from 'node:readline';

/** Asks one question. Resolves with the answer without surrounding spaces, or null at the end of input. */
export type Ask = (question: string) => Promise<string | null>;

/** Whether a person sits at the terminal and can be asked. */
export function isAnswering(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Calls `work` with a function that asks on the terminal. Lines pasted together answer one question each. */
export async function withAnswers<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answers = lines[Symbol.asyncIterator]();
  try {
    return await work(async (question) => {
      lines.setPrompt(question);
      lines.prompt();
      const { value, done } = await answers.next();
      return done === true ? null : value.trim();
    });
  } finally {
    lines.close();
  }
}

import { createInterface } from 'node:readline/promises';
import type { Options } from './options.ts';
import { Refusal } from './refusal.ts';
import { isTarget, TARGETS, type Target } from './targets.ts';

/** The answers to the questions that `broadsheet new` does not ask. */
export interface Answers {
  folder: string;
  publish: Target;
}

/** Whether a person sits at the terminal and can be asked. */
export function isAnswering(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * Asks for the folder and the target, unless options give them; the installed program asks about the paper. Throws a
 * Refusal when the input ends.
 */
export async function askOptions({ folder, publish }: Options, isAsking: boolean): Promise<Answers> {
  if (!isAsking) {
    if (folder === undefined) throw new Refusal('name the folder to make, as in npm create broadsheet my-paper');
    return { folder, publish: publish ?? 'pages' };
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<never>((_, reject) => {
    lines.on('close', () => reject(new Refusal('the answers ended; nothing was created')));
  });
  ended.catch(() => {});
  const ask = async (question: string) => (await Promise.race([lines.question(question), ended])).trim();
  try {
    const at = { folder: folder ?? '', publish };
    while (at.folder === '') at.folder = await ask('Folder, whose name is the address of the paper, as in my-paper: ');
    const known = Object.entries(TARGETS).map(([name, { title }]) => `${name} (${title})`);
    while (at.publish === undefined) {
      const answer = (await ask(`Where to publish: ${known.join(', ')} [pages]: `)) || 'pages';
      if (isTarget(answer)) at.publish = answer;
      else process.stdout.write(`${JSON.stringify(answer)} is unknown; answer ${Object.keys(TARGETS).join(', ')}\n`);
    }
    return { folder: at.folder, publish: at.publish };
  } finally {
    lines.close();
  }
}

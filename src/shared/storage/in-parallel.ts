import { Budget } from '../workers/budget.ts';

/** Maximum number of requests to a target in flight. */
export const IN_FLIGHT = 32;
/** The most bytes of files in memory; a larger file is handled alone. */
export const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** Works on files, `IN_FLIGHT` at a time. After a failure it begins no other file, and rejects when all have ended. */
export async function inParallel<Item extends { size(): number | Promise<number> }>(
  files: Iterable<Item>,
  work: (file: Item) => Promise<void>,
): Promise<void> {
  const budget = new Budget(BYTES_IN_FLIGHT);
  const queue = Iterator.from(files);
  const failures: unknown[] = [];
  const workOn = async (file: Item): Promise<void> => {
    if (failures.length === 0) await work(file).catch((error: unknown) => void failures.push(error));
  };
  const worker = async (): Promise<void> => {
    try {
      for (const file of queue) {
        if (failures.length > 0) return;
        await budget.within(await file.size(), () => workOn(file));
      }
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  if (failures.length > 0) throw failures[0];
}

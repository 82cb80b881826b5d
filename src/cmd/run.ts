import { readSettings } from '../env.ts';
import type { Workshop } from '../works/workshop.ts';
import { openWorkshop } from '../works/workshop.ts';

/** Opens the workshop for one command and closes it after, whatever happens. */
export async function withWorkshop<T>(work: (shop: Workshop) => T | Promise<T>): Promise<T> {
  const shop = openWorkshop(readSettings());
  try {
    return await work(shop);
  } catch (error) {
    throw shop.store.fault(error);
  } finally {
    shop.close();
  }
}

/** Prints a command's outcome: as JSON where that was asked, else as lines. */
export function say(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${line}\n`).join(''));
}

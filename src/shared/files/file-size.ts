import { stat } from 'node:fs/promises';

/** How many bytes a file has; 0 without one. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}

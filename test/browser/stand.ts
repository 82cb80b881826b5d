import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyDemo, serve } from '../support/program.ts';

export interface Stand {
  /** Address of the host that serves the demo papers. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the repository's own papers from a folder of its own, as `npm start` does, and waits until they are pressed.
 * `change` may add to the folder first.
 */
export async function openStand(change?: (folder: string) => void): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-stand-'));
  copyDemo(folder);
  change?.(folder);
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const scope = { after: (end: () => unknown) => void ends.push(end) } as Parameters<typeof serve>[0];
    const { url, stop } = await serve(scope, folder, { SERVICES: 'desk' });
    ends.push(stop);
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../shared/fault.ts';
import { syncFolder } from '../shared/files/durable-file.ts';

/** Unfinished folders older than this were left by a killed process, in ms. */
const LEFT_AFTER = 3_600_000;

let asides = 0;

/**
 * Drawn files by the id of their picture: `ab/abcd…/<name>`. The folder of a picture appears whole or not at all, and
 * the first of two processes that draw the same picture wins. Everything in it can be drawn again.
 */
export function pictureCache(folder: string) {
  const folderOf = (id: string): string => join(folder, id.slice(0, 2), id);
  let swept: Promise<void> | undefined;
  return {
    has: (id: string): boolean => existsSync(folderOf(id)),
    /** The bytes of a file; null when it was not drawn yet. */
    async read(id: string, name: string): Promise<Uint8Array | null> {
      try {
        return await readFile(join(folderOf(id), name));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      }
    },
    /** Stores all files of a picture, by name. */
    async keep(id: string, files: Iterable<[string, Uint8Array]>): Promise<void> {
      const parent = join(folder, id.slice(0, 2));
      await mkdir(parent, { recursive: true });
      swept ??= sweep(folder);
      await swept;
      const aside = join(parent, `.${id}.${process.pid}.${++asides}`);
      try {
        await mkdir(aside);
        for (const [name, bytes] of files) await writeFile(join(aside, name), bytes, { flush: true, mode: 0o644 });
        syncFolder(aside);
        await rename(aside, folderOf(id));
        syncFolder(parent);
      } catch (error) {
        // Another process or thread stored the same picture meanwhile.
        if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(codeOf(error)) || !existsSync(folderOf(id))) throw error;
      } finally {
        await rm(aside, { recursive: true, force: true });
      }
    },
  };
}

/** Removes what killed processes left unfinished. */
async function sweep(folder: string): Promise<void> {
  for (const part of await readdir(folder)) {
    for (const name of await readdir(join(folder, part)).catch(() => [])) {
      const path = join(folder, part, name);
      if (!name.startsWith('.')) continue;
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > LEFT_AFTER) await rm(path, { recursive: true, force: true });
    }
  }
}

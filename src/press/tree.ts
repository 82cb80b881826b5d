import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants, copyFile, link, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../fault.ts';
import { sha256 } from '../ledger/basis.ts';

/**
 * A paper's folder on disk. A file that was there is replaced by renaming the
 * new one over it, so that a reader sees the old one or the new one and never
 * half. A file that was not there is written where it belongs: nothing points
 * at it yet, and after a crash it is written again.
 */
export class Tree {
  readonly folder: string;
  readonly #aside: string;
  readonly #sync: boolean;
  readonly #made = new Map<string, Promise<unknown>>();
  #count = 0;

  /**
   * `aside` is a folder of this press alone, on the same disk; what a crash left
   * in it is cleared. With `sync` each file is on the disk itself, not only in
   * the system's memory, before anything else is written.
   */
  static async open(folder: string, aside: string, sync: boolean): Promise<Tree> {
    const tree = new Tree(folder, aside, sync);
    await guarded('the folder', async () => {
      rmSync(aside, { recursive: true, force: true });
      await mkdir(aside, { recursive: true });
      await mkdir(folder, { recursive: true });
    });
    return tree;
  }

  private constructor(folder: string, aside: string, sync: boolean) {
    this.folder = folder;
    this.#aside = aside;
    this.#sync = sync;
  }

  /** Puts bytes at a path. Throws `unavailable` naming the file and the cure. */
  write(path: string, bytes: Uint8Array, isThere: boolean): Promise<void> {
    return guarded(path, async () => {
      const target = await this.#target(path);
      if (!isThere && !this.#sync) return writeFile(target, bytes);
      const aside = this.#nextAside();
      const file = await open(aside, 'w', 0o644);
      try {
        await file.writeFile(bytes);
        if (this.#sync) await file.sync();
      } finally {
        await file.close();
      }
      await rename(aside, target);
    });
  }

  /** Puts a copy of another file at a path, by reflink where the disk can. */
  copy(path: string, from: string): Promise<void> {
    return guarded(path, async () => {
      const target = await this.#target(path);
      const aside = this.#nextAside();
      await copyFile(from, aside, constants.COPYFILE_FICLONE);
      await rename(aside, target);
    });
  }

  /** Gives a file of the tree a second path: a hard link, or a copy where the disk knows none. */
  link(path: string, from: string, isThere: boolean): Promise<void> {
    return guarded(path, async () => {
      const target = await this.#target(path);
      const aside = isThere ? this.#nextAside() : target;
      try {
        await link(join(this.folder, from), aside);
      } catch {
        await copyFile(join(this.folder, from), aside);
      }
      if (isThere) await rename(aside, target);
    });
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { force: true });
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
      try {
        rmdirSync(join(this.folder, parent));
        this.#made.delete(parent);
      } catch {
        // It still holds something.
        return;
      }
    }
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  /** `sha256:<hex>` of the file at a path, or null when there is none. */
  digest(path: string): Promise<string | null> {
    return guarded(path, async () => (this.has(path) ? sha256(await readFile(join(this.folder, path))) : null));
  }

  /** Paths of every file there is. */
  list(): Set<string> {
    const found = new Set<string>();
    for (const entry of readdirSync(this.folder, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) continue;
      found.add(join(entry.parentPath, entry.name).slice(this.folder.length + 1));
    }
    return found;
  }

  close(): void {
    rmSync(this.#aside, { recursive: true, force: true });
  }

  #nextAside(): string {
    return join(this.#aside, String(this.#count++));
  }

  /** The file's place on disk, its folder made. */
  async #target(path: string): Promise<string> {
    const parent = dirname(path);
    let made = this.#made.get(parent);
    if (made === undefined) {
      made = mkdir(join(this.folder, parent), { recursive: true });
      this.#made.set(parent, made);
    }
    await made;
    return join(this.folder, path);
  }
}

const CURES: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the quota is used up; free some space',
  EACCES: 'the folder may not be written; correct its permissions',
  EPERM: 'the folder may not be written; correct its permissions',
  EROFS: 'the disk is mounted read-only; mount it for writing',
  EISDIR: 'a folder stands where the file belongs; move it away',
  EEXIST: 'a file stands where a folder belongs; move it away',
  ENOTDIR: 'a file stands where a folder belongs; move it away',
  EMFILE: 'too many files are open; raise the limit',
};

/** An error of the disk becomes a fault with one line of cause and cure. What was pressed before stays whole. */
async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const cure = CURES[(error as NodeJS.ErrnoException).code ?? ''];
    if (cure === undefined) throw error;
    throw new Fault(
      'unavailable',
      `cannot press ${path}: ${cure}, then run \`broadsheet press\`; what was on air is still whole, and nothing is lost`,
      { path },
    );
  }
}

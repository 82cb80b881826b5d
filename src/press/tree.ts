import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { constants, copyFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../fault.ts';

/**
 * A paper's folder on disk. A file is written aside and renamed into its
 * place, so that a reader sees the old one or the new one and never half.
 */
export class Tree {
  readonly folder: string;
  readonly #aside: string;
  readonly #sync: boolean;
  readonly #made = new Set<string>();
  #count = 0;

  /** `aside` is a folder of this press alone, on the same disk; what a crash left in it is cleared. */
  constructor(folder: string, aside: string, sync: boolean) {
    this.folder = folder;
    this.#aside = aside;
    this.#sync = sync;
    this.#guard(aside, () => {
      rmSync(aside, { recursive: true, force: true });
      mkdirSync(aside, { recursive: true });
      mkdirSync(folder, { recursive: true });
    });
  }

  /** Puts bytes at a path. Throws `unavailable` naming the file and the cure. */
  write(path: string, bytes: Uint8Array): void {
    this.#guard(path, () => {
      const aside = this.#nextAside();
      const file = openSync(aside, 'w', 0o644);
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
        if (this.#sync) fsyncSync(file);
      } finally {
        closeSync(file);
      }
      this.#place(aside, path);
    });
  }

  /** Puts a copy of another file at a path, by reflink where the disk can. */
  async copy(path: string, from: string): Promise<void> {
    const aside = this.#nextAside();
    try {
      await copyFile(from, aside, constants.COPYFILE_FICLONE);
    } catch (error) {
      throw diskFault(error, path);
    }
    this.#guard(path, () => this.#place(aside, path));
  }

  remove(path: string): void {
    this.#guard(path, () => {
      rmSync(join(this.folder, path), { force: true });
      for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
        try {
          rmdirSync(join(this.folder, parent));
          this.#made.delete(parent);
        } catch {
          return;
        }
      }
    });
  }

  read(path: string): Promise<Uint8Array> {
    return readFile(join(this.folder, path));
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

  #place(aside: string, path: string): void {
    const parent = dirname(path);
    if (!this.#made.has(parent)) {
      mkdirSync(join(this.folder, parent), { recursive: true });
      this.#made.add(parent);
    }
    renameSync(aside, join(this.folder, path));
  }

  #guard(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      throw diskFault(error, path);
    }
  }
}

const CURES: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the quota is used up; free some space',
  EACCES: 'the folder may not be written; correct its permissions',
  EPERM: 'the folder may not be written; correct its permissions',
  EROFS: 'the disk is mounted read-only; mount it for writing',
  EISDIR: 'a folder stands where the file belongs; move it away',
  ENOTDIR: 'a file stands where a folder belongs; move it away',
  EMFILE: 'too many files are open; raise the limit',
};

/** An error of the disk as a fault with one line of cause and cure. What was pressed before stays whole. */
function diskFault(error: unknown, path: string): unknown {
  const cure = CURES[(error as NodeJS.ErrnoException).code ?? ''];
  if (cure === undefined) return error;
  return new Fault(
    'unavailable',
    `cannot press ${path}: ${cure}, then run \`broadsheet press\`; what was on air is still whole, and nothing is lost`,
    { path },
  );
}

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsync as fsyncCallback,
  linkSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../fault.ts';
import { sha256 } from '../ledger/basis.ts';

const fsync = promisify(fsyncCallback);

/** How many folders a tree remembers to have made; a press works in few at a time. */
const MADE_MAX = 64;

export interface TreeOptions {
  /** A folder of this press alone, on the same disk: files are written there and then moved to their place. */
  aside: string;
  /** Whether each file is on the disk itself, not only in the system's memory, before anything else is written. */
  sync: boolean;
  /** Whether the tree was new when the press began, for a worker that joins later; looked up when left out. */
  isNew?: boolean;
  /** Throws when this press may not write any more; asked before every change of the tree. */
  assertClaim(): void;
}

/**
 * A paper's folder on disk. A file that was there is replaced by renaming the
 * new one over it, so that a reader sees the old one or the new one and never
 * half. In a new tree a file is written where it belongs: nobody reads it before
 * `LAST_FILE` is there, and after a crash it is written again.
 */
export class Tree {
  readonly folder: string;
  /** Whether there was nothing in the folder when the press began, so that nobody reads from it yet. */
  readonly isNew: boolean;
  readonly #aside: string;
  readonly #sync: boolean;
  /** Throws when this press may not write any more. */
  readonly assertClaim: () => void;
  readonly #made = new Set<string>();
  /** Folders whose entries changed since they were last synced. */
  readonly #touched = new Set<string>();
  #inPlace: boolean;
  #count = 0;

  constructor(folder: string, { aside, sync, isNew, assertClaim }: TreeOptions) {
    this.folder = folder;
    this.#aside = aside;
    this.#sync = sync;
    this.assertClaim = assertClaim;
    this.isNew = guarded(folder, () => {
      mkdirSync(aside, { recursive: true });
      mkdirSync(folder, { recursive: true });
      return isNew ?? readdirSync(folder).length === 0;
    });
    // What is to be on the disk before it is seen is written aside first.
    this.#inPlace = this.isNew && !sync;
  }

  /** Puts bytes at a path. Throws `unavailable` naming the file and the cure. */
  async write(path: string, bytes: Uint8Array, isThere: boolean): Promise<void> {
    this.assertClaim();
    try {
      const target = this.#target(path);
      if (this.#inPlace && !isThere) return writeFileSync(target, bytes);
      const aside = this.#nextAside();
      const file = openSync(aside, 'w', 0o644);
      try {
        writeFileSync(file, bytes);
        // The disk takes its time, and a server has others to answer meanwhile.
        if (this.#sync) await fsync(file);
      } finally {
        closeSync(file);
      }
      // The disk may have taken long.
      this.assertClaim();
      renameSync(aside, target);
    } catch (error) {
      throw diskFault(error, path);
    }
  }

  /** Puts a copy of another file at a path, by reflink where the disk can. */
  async copy(path: string, from: string): Promise<void> {
    this.assertClaim();
    if (!existsSync(from)) {
      throw new Fault('unavailable', `cannot press ${path}: its bytes are missing in DATA_DIR; file it again`, {
        path,
      });
    }
    try {
      const target = this.#target(path);
      const aside = this.#nextAside();
      copyFileSync(from, aside, constants.COPYFILE_FICLONE);
      if (this.#sync) await syncFile(aside);
      this.assertClaim();
      renameSync(aside, target);
    } catch (error) {
      throw diskFault(error, path);
    }
  }

  /** Gives a file of the tree a second path: a hard link, or a copy where the disk knows none. */
  async link(path: string, from: string, isThere: boolean): Promise<void> {
    this.assertClaim();
    try {
      const target = this.#target(path);
      const inPlace = this.#inPlace && !isThere;
      const aside = inPlace ? target : this.#nextAside();
      try {
        linkSync(join(this.folder, from), aside);
      } catch {
        copyFileSync(join(this.folder, from), aside);
        if (this.#sync) await syncFile(aside);
      }
      if (!inPlace) renameSync(aside, target);
    } catch (error) {
      throw diskFault(error, path);
    }
  }

  /** From now on readers see the tree: no file is written in its place any more. */
  show(): void {
    this.#inPlace = false;
  }

  remove(path: string): void {
    this.assertClaim();
    if (this.#sync) this.#touched.add(dirname(path));
    rmSync(join(this.folder, path), { force: true });
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
      try {
        rmdirSync(join(this.folder, parent));
        this.#made.delete(parent);
        if (this.#sync) {
          this.#touched.delete(parent);
          this.#touched.add(dirname(parent));
        }
      } catch {
        // It still holds something.
        return;
      }
    }
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  /** `sha256:<hex>` of the file that was at a path when the press began, or null when there was none. */
  digestBefore(path: string): string | null {
    if (this.isNew) return null;
    return guarded(path, () => (this.has(path) ? sha256(readFileSync(join(this.folder, path))) : null));
  }

  /** Paths of every file there is. */
  files(): Iterable<string> {
    return filesIn(this.folder);
  }

  /** Brings the entries of the folders that changed to the disk itself: without them a file that is there has no name. */
  async syncFolders(): Promise<void> {
    for (const folder of this.#touched) {
      const path = join(this.folder, folder);
      const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
        // Removed since. Windows opens no folders and needs no syncing of them.
        if (error.code === 'ENOENT' || error.code === 'EPERM' || error.code === 'EISDIR') return null;
        throw diskFault(error, folder);
      });
      try {
        await handle?.sync();
      } finally {
        await handle?.close();
      }
    }
    this.#touched.clear();
  }

  close(): void {
    rmSync(this.#aside, { recursive: true, force: true });
  }

  #nextAside(): string {
    return join(this.#aside, String(this.#count++));
  }

  /** The file's place on disk, its folder made. */
  #target(path: string): string {
    const parent = dirname(path);
    if (this.#sync) this.#touched.add(parent);
    if (!this.#made.has(parent)) {
      const made = mkdirSync(join(this.folder, parent), { recursive: true });
      if (this.#sync && made !== undefined) {
        for (let at = parent; at !== '.'; at = dirname(at)) this.#touched.add(dirname(at));
      }
      if (this.#made.size >= MADE_MAX) this.#made.clear();
      this.#made.add(parent);
    }
    return join(this.folder, path);
  }
}

async function syncFile(path: string): Promise<void> {
  const file = openSync(path, 'r');
  try {
    await fsync(file);
  } finally {
    closeSync(file);
  }
}

/** The file that a press writes last into a new tree: before it, nobody is shown what is there. */
export const LAST_FILE = '_headers';

/** Whether a folder holds a pressed tree, and not the beginnings of one. */
export function isTree(folder: string): boolean {
  return existsSync(join(folder, LAST_FILE));
}

/** Paths of every file in a folder, below it, one folder open at a time; none when there is no folder. */
export function* filesIn(root: string, under = ''): Iterable<string> {
  const at = join(root, under);
  if (!existsSync(at)) return;
  const folders: string[] = [];
  const folder = opendirSync(at);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else yield path;
    }
  } finally {
    folder.closeSync();
  }
  for (const path of folders) yield* filesIn(root, path);
}

const CURES: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the quota is used up; free some space',
  EACCES: 'the folder may not be written; correct its permissions',
  EPERM: 'the folder may not be written; correct its permissions',
  ENOENT: 'the folder is gone or cannot be made; the disk may be read-only, or not there',
  EROFS: 'the disk is mounted read-only; mount it for writing',
  EISDIR: 'a folder stands where the file belongs; move it away',
  EEXIST: 'a file stands where a folder belongs; move it away',
  ENOTDIR: 'a file stands where a folder belongs; move it away',
  EMFILE: 'too many files are open; raise the limit',
};

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskFault(error, path);
  }
}

/** An error of the disk as a fault with one line of cause and cure. What was pressed before stays whole. */
function diskFault(error: unknown, path: string): unknown {
  const cure = CURES[(error as NodeJS.ErrnoException).code ?? ''];
  if (cure === undefined) return error;
  return new Fault(
    'unavailable',
    `cannot press ${path}: ${cure}, then run \`npm run -s broadsheet -- press\`; what was on air is still whole, and nothing is lost`,
    { path },
  );
}

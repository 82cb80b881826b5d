import {
  closeSync,
  constants,
  copyFileSync,
  type Dirent,
  existsSync,
  fsync as fsyncCallback,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { missingMedia } from '../../media/media.ts';
import { sha256 } from '../../proof/basis.ts';
import { CLI } from '../../shared/command-line.ts';
import { codeOf, Fault } from '../../shared/fault.ts';
import { copyOwned } from '../../shared/files/durable-file.ts';
import { digestOfFile } from '../../shared/files/file-digest.ts';

const fsync = promisify(fsyncCallback);

export interface TreeOptions {
  /** A folder for this press alone, on the same file system. Files are written there and then renamed into place. */
  aside: string;
  /** Whether to sync each file to disk before the next one is written. */
  sync: boolean;
  /** Whether the tree was new when the press began, for a worker that joins later; detected by default. */
  isNew?: boolean;
  /** Throws when this press has lost its lease. Called before every change of the tree. */
  assertHeld(): void;
}

/**
 * A paper's folder on disk. Renames a new file over the old one, so that readers see either of them and never a partial
 * file. In a new tree, files are written in place: no reader sees it before `LAST_FILE` exists, and after a crash they
 * are written again.
 */
export function openTree(folder: string, { aside, sync, isNew: given, assertHeld }: TreeOptions) {
  const isNew = guarded(folder, () => {
    mkdirSync(aside, { recursive: true });
    mkdirSync(folder, { recursive: true });
    return given ?? readdirSync(folder).length === 0;
  });
  /** Folders whose entries changed since they were last synced. */
  const touched = new Set<string>();
  // Files that must be synced before readers see them are written aside first.
  let inPlace = isNew && !sync;
  let count = 0;

  /** The path on disk of a path in the tree. */
  const at = (path: string): string => `${folder}/${path}`;

  /** Removes a link in the place of a folder, because the press would read and write wherever it leads. */
  function removeLinks(path: string): void {
    if (path === '.') return;
    removeLinks(dirname(path));
    if (lstatSync(at(path), { throwIfNoEntry: false })?.isSymbolicLink()) {
      assertHeld();
      rmSync(at(path));
    }
  }

  function makeFolder(path: string): void {
    const made = mkdirSync(at(path), { recursive: true });
    if (sync && made !== undefined) {
      for (let parent = path; parent !== '.'; parent = dirname(parent)) touched.add(dirname(parent));
    }
  }

  /** Puts a file at a path, and creates its folder if necessary. */
  function put(path: string, write: (target: string) => unknown): void {
    const parent = dirname(path);
    if (sync) touched.add(parent);
    removeLinks(parent);
    try {
      write(at(path));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      makeFolder(parent);
      write(at(path));
    }
  }

  /** Writes a file in place, or aside and then renames it. `write` returns true when there is nothing to sync. */
  async function make(path: string, isDirect: boolean, write: (file: string) => unknown): Promise<void> {
    assertHeld();
    try {
      if (isDirect) return put(path, write);
      const file = `${aside}/${count++}`;
      const isSynced = await write(file);
      if (sync && isSynced !== true) await syncFile(file);
      // The lease may have been lost during the sync.
      assertHeld();
      put(path, (target) => renameSync(file, target));
    } catch (error) {
      throw diskFault(error, path);
    }
  }

  return {
    /** Whether the folder was empty when the press began, so that no reader uses it yet. */
    isNew,
    assertHeld,
    /** Writes bytes to a path. Throws `unavailable`, naming the file and the remedy. */
    write: (path: string, bytes: Uint8Array): Promise<void> =>
      make(path, inPlace, (file) => writeFileSync(file, bytes, { mode: 0o644 })),
    /**
     * Copies another file to a path, by reflink if the file system supports it. Throws `missingMedia` unless the copy
     * has this digest.
     */
    async copy(path: string, from: string, digest: string): Promise<void> {
      if (!existsSync(from)) throw missingMedia(digest);
      await make(path, false, async (file) => {
        copyOwned(from, file);
        if ((await digestOfFile(file)) !== digest) throw missingMedia(digest);
      });
    },
    /** Gives a file of the tree a second path: a hard link, or a copy if the file system does not support links. */
    link: (path: string, from: string): Promise<void> => make(path, inPlace, (file) => linkOrCopy(at(from), file)),
    /** Makes the tree visible to readers. Files are no longer written in place. */
    show(): void {
      inPlace = false;
    },
    remove(path: string): void {
      assertHeld();
      if (sync) touched.add(dirname(path));
      // The link may have been replaced by a folder.
      if (lstatSync(at(path), { throwIfNoEntry: false })?.isDirectory()) return;
      rmSync(at(path), { force: true });
      for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
        try {
          rmdirSync(at(parent));
          if (sync) {
            touched.delete(parent);
            touched.add(dirname(parent));
          }
        } catch {
          // The folder is not empty.
          return;
        }
      }
    },
    has(path: string): boolean {
      removeLinks(dirname(path));
      return lstatSync(at(path), { throwIfNoEntry: false })?.isFile() === true;
    },
    /** `sha256:<hex>` of the file at a path before this press; null when there is none. */
    digestBefore(path: string): string | null {
      if (isNew) return null;
      return guarded(path, () => {
        removeLinks(dirname(path));
        const bytes = contentOf(at(path));
        return bytes === null ? null : sha256(bytes);
      });
    },
    /** The paths of all files. */
    files: (): Iterable<string> => filesIn(folder),
    /** Syncs the changed folders: without its directory entry, a synced file would be lost. */
    async syncFolders(): Promise<void> {
      for (const path of touched) {
        await syncFile(at(path)).catch((error) => {
          // The folder was removed meanwhile; or this is Windows, which cannot open folders and does not need to sync
          // them.
          if (!/^(?:ENOENT|EPERM|EISDIR)$/.test(codeOf(error))) throw diskFault(error, path);
        });
      }
      touched.clear();
    },
    close: (): void => rmSync(aside, { recursive: true, force: true }),
  };
}

export type Tree = ReturnType<typeof openTree>;

/** Makes a hard link, or a copy. Returns whether it is a link, whose bytes are already on disk. */
function linkOrCopy(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch (error) {
    // The folder is missing. The caller creates it and tries again, so that this becomes a link.
    if (codeOf(error) === 'ENOENT') throw error;
    copyFileSync(source, target);
    return false;
  }
}

/** The content of a file; null if it does not exist. */
function contentOf(path: string): Buffer | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    // Links are never part of the tree, whatever their target; the new file replaces it.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return null;
    throw error;
  }
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Syncs a file without blocking this thread, because syncing is slow. */
async function syncFile(path: string): Promise<void> {
  const file = openSync(path, 'r');
  try {
    await fsync(file);
  } finally {
    closeSync(file);
  }
}

/** The file that a press writes last into a new tree. A tree without it is not served. */
export const LAST_FILE = '_headers';

/** Whether a folder holds a complete tree. */
export function isTree(folder: string): boolean {
  return existsSync(join(folder, LAST_FILE));
}

/** The paths of all files below a folder; empty if the folder does not exist. */
export function* filesIn(root: string, under = ''): Iterable<string> {
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(join(root, under), { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const folders: string[] = [];
  for (const entry of entries) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) folders.push(path);
    else yield path;
  }
  for (const path of folders) yield* filesIn(root, path);
}

const CURES: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the disk quota is used up; free some space',
  EACCES: 'the folder is not writable; correct its permissions',
  EPERM: 'the folder is not writable; correct its permissions',
  ENOENT: 'the folder does not exist and cannot be made; check that the disk is mounted, and not read-only',
  EROFS: 'the disk is mounted read-only; mount it writable',
  EISDIR: 'there is a folder where the file belongs; move it away',
  EEXIST: 'there is a file where a folder belongs; move it away',
  ENOTDIR: 'there is a file where a folder belongs; move it away',
  EMFILE: 'too many files are open; raise the limit with ulimit -n',
};

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskFault(error, path);
  }
}

/** Converts a disk error to a fault with its cause and remedy. Existing pressed files stay intact. */
function diskFault(error: unknown, path: string): unknown {
  const cure = CURES[codeOf(error)];
  if (cure === undefined) return error;
  return new Fault(
    'unavailable',
    `cannot press ${path}: ${cure}, then run \`${CLI} press\`; the published files are intact, and nothing is lost`,
    { path },
  );
}

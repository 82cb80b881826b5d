import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../fault.ts';

/** Errors of file systems that cannot sync folders. */
const NO_FOLDER_SYNC = /^(?:EISDIR|EPERM|EACCES|EINVAL|ENOTSUP|EBADF)$/;

let asides = 0;

/**
 * Writes a file atomically and durably: `write` writes a temporary file, which is synced and renamed. Its folder is
 * synced too, because a power failure loses new names as easily as new bytes. References to the file may be committed
 * after this returns. With `keeps`, an existing file stays, and the result is false.
 */
export function putFile(
  file: string,
  write: (aside: string) => void,
  { keeps = false }: { keeps?: boolean } = {},
): boolean {
  const folder = dirname(file);
  // Unique to this write, and hidden in listings.
  const aside = join(folder, `.${basename(file)}.${process.pid}.${++asides}`);
  try {
    write(aside);
    syncFile(aside);
    if (!keeps) renameSync(aside, file);
    const isPut = !keeps || linkNew(aside, file);
    syncFolder(folder);
    return isPut;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Copies a file, by reflink if the file system supports it. Only its owner can write the copy. */
export function copyOwned(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const { mode } = statSync(to);
  if ((mode & 0o022) === 0) return;
  try {
    chmodSync(to, mode & 0o755);
  } catch (error) {
    // Some file systems have one mode for all files.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error))) throw error;
  }
}

/** Creates a folder and its missing parents, and syncs every new name. */
export function makeFolder(folder: string, mode?: number): void {
  const first = mkdirSync(folder, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  for (let at = folder; ; at = dirname(at)) {
    syncFolder(dirname(at));
    if (at === first || at === dirname(at)) return;
  }
}

/** Syncs the directory entries of a folder. */
export function syncFolder(folder: string): void {
  try {
    syncFile(folder);
  } catch (error) {
    if (!NO_FOLDER_SYNC.test(codeOf(error))) throw error;
  }
}

/** Syncs the bytes of a file or the names in a folder. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Moves a file to a path, unless a file is there. Returns whether it was moved. */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    // The file system has no hard links.
    renameSync(from, to);
  }
  return true;
}

import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Errors of systems, or of disks, that sync no folders. */
const NO_FOLDER_SYNC = /^(?:EISDIR|EPERM|EACCES|EINVAL|ENOTSUP|EBADF)$/;

let asides = 0;

/**
 * Gives a file its place, whole and for good: `write` writes it aside, it is
 * synced, renamed, and its folder is synced, for a new name is lost in a power
 * cut as easily as new bytes. What names the file may be committed after this
 * returns. With `keeps` a file that is there already stays; false says so.
 */
export function putFile(
  file: string,
  write: (aside: string) => void,
  { keeps = false }: { keeps?: boolean } = {},
): boolean {
  const folder = dirname(file);
  // Of this process and this write alone; hidden, where folders are listed.
  const aside = join(folder, `.${basename(file)}.${process.pid}.${++asides}`);
  try {
    write(aside);
    syncFile(aside);
    const isPut = keeps ? putNew(aside, file) : putOver(aside, file);
    syncFolder(folder);
    return isPut;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Makes a folder with those above it, and syncs every new name. */
export function makeFolder(folder: string, mode?: number): void {
  const first = mkdirSync(folder, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (first === undefined) return;
  for (let at = folder; ; at = dirname(at)) {
    syncFolder(dirname(at));
    if (at === first || at === dirname(at)) return;
  }
}

/** Syncs the names in a folder. */
export function syncFolder(folder: string): void {
  try {
    syncFile(folder);
  } catch (error) {
    if (!NO_FOLDER_SYNC.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function putOver(from: string, to: string): true {
  renameSync(from, to);
  return true;
}

function putNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A disk that knows no hard links.
    renameSync(from, to);
  }
  return true;
}

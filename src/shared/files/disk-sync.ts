import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { uptime } from 'node:os';
import { BOOT_ID } from '../workers/process-name.ts';

/**
 * The machine's current boot. Writes that have not reached the disk may be lost when it ends. Its start is rounded to the
 * minute, because the two clocks are not read at the same moment.
 */
const BOOT = BOOT_ID ?? `boot-${Math.round((Date.now() / 1_000 - uptime()) / 60)}`;

/** Notes that the presses up to a number wrote files during this boot that may not have reached the disk. */
export function unsyncedNote(until: number): string {
  return `${BOOT} ${until}`;
}

/**
 * Whether files were written during an earlier boot and may never have reached the disk. `note` is null when all did.
 */
export function mayHaveLostWrites(note: string | null): boolean {
  return note !== null && note.split(' ')[0] !== BOOT;
}

/** Linux's number of tmpfs, a file system in memory. */
const TMPFS = 0x01_02_19_94;

/**
 * Flushes the whole file system of a folder to disk and then calls `done`: syncing a hundred thousand files
 * individually takes minutes. Without a `sync` program the note stays, and the files are checked after the next boot.
 * In memory there is nothing to flush.
 */
export async function syncTree(folder: string, done: () => void): Promise<void> {
  if (!(await isInMemory(folder)) && !(await isSynced(folder))) return;
  try {
    done();
  } catch {
    // The database is busy or closed. The note stays, which costs a check and loses nothing.
  }
}

function isInMemory(folder: string): Promise<boolean> {
  return statfs(folder).then(
    ({ type }) => type === TMPFS,
    () => false,
  );
}

function isSynced(folder: string): Promise<boolean> {
  return new Promise((resolve) => execFile('sync', ['-f', folder], (error) => resolve(error === null)));
}

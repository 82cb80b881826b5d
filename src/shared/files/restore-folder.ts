import { execFile } from 'node:child_process';
import { createWriteStream, existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { DATABASE_FILE } from './data-folder.ts';
import { makeFolder, syncFile, syncFolder } from './durable-file.ts';

/**
 * A backup is unpacked into this folder of DATA_DIR: not beside it, because DATA_DIR may be a file system of its own.
 */
export const RESTORING = '.restoring';
/** The file in that folder that a running restore locks. */
const LOCK = '.lock';
/** Entries of a file system that is otherwise empty. */
const SYSTEM_ENTRIES = new Set(['lost+found']);

/** What an interrupted restore may have moved into place already. */
const MOVED = /^(?:media|settings|[a-z-]+\.key(?:\.next)?)$/;

/** Throws `unavailable` when a restore into this folder was interrupted, and nothing may use it. */
export function assertRestored(folder: string): void {
  const aside = join(folder, RESTORING);
  if (!existsSync(aside)) return;
  // The database is moved last: once it is in place, nothing else is left to move.
  const isLeft = (name: string) => name !== LOCK && name !== DATABASE_FILE;
  if (existsSync(join(folder, DATABASE_FILE)) && !readdirSync(aside).some(isLeft)) return;
  const message = `a restore into ${folder} is under way or was interrupted; wait for it, or run it again, which starts over, or remove ${aside}`;
  throw new Fault('unavailable', message);
}

/** An empty folder that gets the files of a backup: all of them, or none. */
export class RestoreFolder {
  readonly folder: string;
  readonly #aside: string;
  /** The topmost folder that had to be made; null when the folder was there. */
  readonly #made: string | null;

  readonly #unlock: () => void;

  private constructor(folder: string, made: string | null, unlock: () => void) {
    this.folder = folder;
    this.#made = made;
    this.#unlock = unlock;
    this.#aside = join(folder, RESTORING);
  }

  /**
   * Removes what an interrupted restore left. Throws `conflict` when the folder is not empty or in use. `lock` returns
   * what unlocks a file, or null while another process has it.
   */
  static async open(folder: string, lock: (file: string) => (() => void) | null): Promise<RestoreFolder> {
    // Checked before anything is written, and again under the lock.
    requireEmpty(folder, await namesIn(folder));
    return guarded(folder, async () => {
      const aside = join(folder, RESTORING);
      const made = (await mkdir(folder, { recursive: true, mode: 0o700 })) ?? null;
      await mkdir(aside, { recursive: true, mode: 0o700 });
      const unlock = lock(join(aside, LOCK));
      if (unlock === null || !existsSync(join(aside, LOCK))) {
        unlock?.();
        throw new Fault('conflict', `another restore into ${folder} is under way; wait for it, or stop it`);
      }
      const restored = new RestoreFolder(folder, made, unlock);
      try {
        const names = await namesIn(folder);
        requireEmpty(folder, names);
        for (const name of names) if (name !== RESTORING) await rm(join(folder, name), { recursive: true });
        for (const name of await readdir(aside)) if (name !== LOCK) await rm(join(aside, name), { recursive: true });
      } catch (error) {
        await restored.discard();
        throw error;
      }
      return restored;
    });
  }

  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const file = join(this.#aside, path);
    // Errors of the backup itself are thrown as they are; those of the disk become a fault that names the folder.
    let ofBackup: unknown = null;
    const watched = async function* (): AsyncIterable<Uint8Array> {
      try {
        yield* content;
      } catch (error) {
        ofBackup = error;
        throw error;
      }
    };
    return guarded(this.folder, async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await pipeline(watched, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    }).catch((error: unknown) => {
      throw ofBackup ?? error;
    });
  }

  /** Moves everything into place, the database last, because nothing opens the folder without it. Replaces nothing. */
  async finish(): Promise<void> {
    await guarded(this.folder, async () => {
      await syncAll(this.#aside);
      const names = (await readdir(this.#aside)).filter((name) => name !== LOCK);
      const came = (await namesIn(this.folder)).find((name) => name !== RESTORING);
      if (came !== undefined) throw appearedMeanwhile(this.folder, came);
      const last = (name: string) => Number(name === DATABASE_FILE);
      for (const name of names.sort((a, b) => last(a) - last(b))) {
        if (name === DATABASE_FILE) syncFolder(this.folder);
        moveNew(join(this.#aside, name), join(this.folder, name));
      }
      syncFolder(this.folder);
      await rm(this.#aside, { recursive: true });
      this.#unlock();
      makeFolder(this.folder);
      syncFolder(dirname(this.folder));
    });
  }

  /** Leaves the folder as it was. */
  async discard(): Promise<void> {
    await rm(this.#aside, { recursive: true, force: true }).catch(() => {});
    this.#unlock();
    if (this.#made === null) return;
    for (let at = this.folder; at.length >= this.#made.length; at = dirname(at)) await rmdir(at).catch(() => {});
  }
}

function requireEmpty(folder: string, names: readonly string[]): void {
  const isInterrupted = names.includes(RESTORING) && names.every((name) => name === RESTORING || MOVED.test(name));
  if (names.length === 0 || isInterrupted) return;
  const [first] = names.filter((name) => name !== RESTORING).sort();
  const message = `${folder} is not empty (it has ${first}); a backup is restored into an empty DATA_DIR only: move it away, or set another`;
  throw new Fault('conflict', message);
}

function appearedMeanwhile(folder: string, name: string): Fault {
  const message = `${name} came into ${folder} while it was restored; stop whatever uses this folder, empty it, and restore again`;
  return new Fault('conflict', message);
}

/** Moves a file or a folder to an unused name. */
function moveNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw appearedMeanwhile(dirname(to), basename(to));
    // A folder, or a file system without hard links. A folder with files in it is never replaced.
    renameSync(from, to);
    return;
  }
  rmSync(from);
}

async function syncAll(folder: string): Promise<void> {
  // One call for all files, if the system has `sync`.
  const isSynced = promisify(execFile)('sync', ['-f', folder]).then(() => true);
  if (await isSynced.catch(() => false)) return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) syncFolder(path);
    else syncFile(path);
  }
}

/** The names in a folder; none if it does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const names = await guarded(folder, () => readdir(folder));
  return names.filter((name) => !SYSTEM_ENTRIES.has(name));
}

async function guarded<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'unavailable',
      `${folder} cannot be written (${messageOf(error)}); free space or correct the permissions, and restore again`,
    );
  }
}

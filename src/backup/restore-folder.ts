import { execFile } from 'node:child_process';
import { createWriteStream, existsSync, readdirSync, renameSync } from 'node:fs';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Fault, messageOf } from '../fault.ts';
import { makeFolder, syncFile, syncFolder } from '../files/durable-file.ts';
import { DATABASE_FILE } from './manifest.ts';

/** The folder within DATA_DIR into which a backup is unpacked. A file system of its own has it too. */
const ASIDE = '.restoring';
/** What a new file system holds. */
const OF_THE_SYSTEM = new Set(['lost+found']);

/** What a restore that was interrupted can have put in place already. */
const PUT = /^(?:media|settings|[a-z-]+\.key(?:\.next)?)$/;

/** Throws `unavailable` when a restore into this folder was interrupted, and nothing may use it. */
export function assertRestored(folder: string): void {
  const aside = join(folder, ASIDE);
  if (!existsSync(aside)) return;
  // Empty beside a database, all of it is in place; without one, a restore has just begun.
  if (existsSync(join(folder, DATABASE_FILE)) && readdirSync(aside).length === 0) return;
  throw new Fault(
    'unavailable',
    `a restore into ${folder} was interrupted; run it again, which begins anew, or remove ${aside}`,
  );
}

/** An empty folder that gets the files of a backup: all of them, or none. */
export class RestoreFolder {
  readonly folder: string;
  readonly #aside: string;
  /** The topmost folder that had to be made; null when the folder was there. */
  readonly #made: string | null;

  private constructor(folder: string, made: string | null) {
    this.folder = folder;
    this.#made = made;
    this.#aside = join(folder, ASIDE);
  }

  /** Throws `conflict` when the folder is not empty. Removes what an interrupted restore left in it. */
  static async open(folder: string): Promise<RestoreFolder> {
    const names = existsSync(folder) ? (await readdirOf(folder)).filter((name) => !OF_THE_SYSTEM.has(name)) : [];
    const isInterrupted = names.includes(ASIDE) && names.every((name) => name === ASIDE || PUT.test(name));
    if (names.length > 0 && !isInterrupted) {
      throw new Fault(
        'conflict',
        `${folder} is not empty (it has ${names.sort()[0]}); a backup is restored into an empty DATA_DIR only: move it away, or set another`,
      );
    }
    const restored = await guarded(folder, async () => {
      for (const name of names) await rm(join(folder, name), { recursive: true });
      const made = (await mkdir(folder, { recursive: true, mode: 0o700 })) ?? null;
      await mkdir(join(folder, ASIDE), { mode: 0o700 });
      return new RestoreFolder(folder, made);
    });
    return restored;
  }

  /** Writes one file aside. */
  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const file = join(this.#aside, path);
    // An error of the backup itself passes; one of the disk is named.
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

  /** Moves everything into place, the database last: before it, nothing can be opened. */
  async finish(): Promise<void> {
    await guarded(this.folder, async () => {
      await syncAll(this.#aside);
      const names = await readdir(this.#aside);
      const last = (name: string) => Number(name === DATABASE_FILE);
      for (const name of names.sort((a, b) => last(a) - last(b))) {
        if (name === DATABASE_FILE) syncFolder(this.folder);
        renameSync(join(this.#aside, name), join(this.folder, name));
      }
      syncFolder(this.folder);
      await rmdir(this.#aside);
      makeFolder(this.folder);
      syncFolder(dirname(this.folder));
    });
  }

  /** Leaves the folder as it was. */
  async discard(): Promise<void> {
    await rm(this.#aside, { recursive: true, force: true }).catch(() => {});
    if (this.#made === null) return;
    for (let at = this.folder; at.length >= this.#made.length; at = dirname(at)) await rmdir(at).catch(() => {});
  }
}

async function syncAll(folder: string): Promise<void> {
  // One call for all of them, where the system has it.
  if (
    await promisify(execFile)('sync', ['-f', folder]).then(
      () => true,
      () => false,
    )
  )
    return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) syncFolder(path);
    else syncFile(path);
  }
}

function readdirOf(folder: string): Promise<string[]> {
  return guarded(folder, () => readdir(folder));
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

import { createHash, randomBytes } from 'node:crypto';
import { constants, existsSync, renameSync } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE, SECOND } from '../../proof/time.ts';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { syncFolder } from '../files/durable-file.ts';
import { textIn } from '../files/plain-file.ts';
import type { Bucket, BucketObject, ObjectHead, PutOptions, StoredObject } from './bucket.ts';

/** A folder beside the objects for locks, and for objects until they are renamed into place. */
const WORKING = '.broadsheet';
/** A temporary file of this age was left behind by a killed process, in ms. */
const LEFT_BEHIND = 10 * MINUTE;
/** A lock is held only while one small file is written, so one of this age was left behind too, in ms. */
const LOCK_LASTS = 10 * SECOND;
const LOCK_POLL = 10;

/** Containers that write into the same folder have equal pids. */
const PROCESS_ID = randomBytes(8).toString('hex');
let asides = 0;

/** The name under which this process locks, and whether the process of another name is known to be dead. */
export interface LockOwner {
  name: string;
  isDead(name: string): boolean;
}

/** A folder as a bucket: each object is a file, replaced at once. It stores no headers. */
export class FolderBucket implements Bucket {
  readonly name: string;
  readonly keepsHeaders = false;
  readonly #folder: string;
  readonly #owner: LockOwner;
  /** The ETags of files that were read in ranges, each with the inode, size and time that the file had. */
  readonly #etags = new Map<string, { state: string; etag: string }>();
  /** Folders whose entries changed since they were last synced. */
  readonly #touched = new Set<string>();

  constructor(folder: string, owner: LockOwner = { name: String(process.pid), isDead: () => false }) {
    this.name = `the folder ${folder}`;
    this.#folder = folder;
    this.#owner = owner;
  }

  async get(key: string, max = Infinity): Promise<StoredObject | null> {
    return this.#reading(key, async (file) => {
      const { size } = await file.stat();
      if (size > max)
        throw new Fault('unavailable', `${this.#path(key)} has ${size} bytes, and at most ${max} are read`);
      const bytes = await file.readFile();
      // A folder has no clock of its own, and the machine's clock may have been set since.
      return { bytes, etag: md5(bytes), age: 0 };
    });
  }

  async range(key: string, etag: string, start: number, end: number): Promise<Uint8Array | null> {
    return this.#reading(key, async (file) => {
      const { ino, size, mtimeMs, ctimeMs } = await file.stat();
      // Programs that copy set mtime; nothing sets ctime.
      const state = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
      // Files are replaced and never changed, so the same inode, size and times mean the same bytes.
      let known = this.#etags.get(key);
      if (known?.state !== state) {
        known = { state, etag: (await contentOf(file)).etag };
        this.#etags.set(key, known);
      }
      if (known.etag !== etag) return null;
      const length = Math.max(0, Math.min(size, end) - start);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    });
  }

  async head(key: string): Promise<ObjectHead | null> {
    const found = await this.#reading(key, contentOf);
    return found && { ...found, headers: {} };
  }

  async isFree(key: string): Promise<boolean> {
    if ((await this.#guarded('', () => unlessGone(stat(this.#folder))))?.isDirectory() !== true)
      throw new Fault('unavailable', `there is no folder ${this.#folder}; create it, or mount its disk`);
    return (await this.#guarded(key, () => unlessGone(stat(this.#path(key))))) === null;
  }

  async put(key: string, bytes: Uint8Array | Blob, { onlyIf, signal }: PutOptions = {}): Promise<string | null> {
    return this.#guarded(key, () =>
      onlyIf === undefined ? this.#write(key, bytes, signal) : this.#putIf(key, bytes, onlyIf),
    );
  }

  async *list(prefix: string): AsyncIterable<BucketObject> {
    const base = join(this.#folder, prefix);
    const entries = await this.#guarded(prefix, () =>
      unlessGone(readdir(base, { recursive: true, withFileTypes: true })),
    );
    for (const entry of entries ?? []) {
      if (entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      const key = relative(this.#folder, path).split(sep).join('/');
      if (key.startsWith(`${WORKING}/`)) continue;
      const info = await this.#guarded(key, () => unlessGone(stat(path)));
      // The file was deleted since the folder was read. A broken link is listed, so that a publication removes it.
      if (info === null && !entry.isSymbolicLink()) continue;
      if (info?.isDirectory()) {
        throw new Fault('conflict', `${path} is a link to a folder; put the folder itself there, or remove the link`);
      }
      // Reading a pipe would block.
      const isFile = info?.isFile() === true;
      const found = isFile ? await this.#reading(key, contentOf) : null;
      if (!isFile) yield { key, size: -1, etag: '' };
      else if (found !== null) yield { key, ...found };
    }
  }

  async remove(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const key of keys) {
      signal?.throwIfAborted();
      await this.#guarded(key, async () => {
        const path = this.#path(key);
        await rm(path, { force: true });
        this.#touched.add(dirname(path));
        await this.#removeEmpty(dirname(path));
      });
    }
  }

  async flush(): Promise<void> {
    for (const folder of this.#touched) if (existsSync(folder)) syncFolder(folder);
    this.#touched.clear();
  }

  async #removeEmpty(folder: string): Promise<void> {
    for (let at = folder; at !== this.#folder; at = dirname(at)) {
      try {
        await rmdir(at);
      } catch {
        // The folder is not empty.
        return;
      }
      this.#touched.add(dirname(at));
    }
  }

  /** `isAllowed` is asked right before the rename. Returns null, and writes nothing, when it returns false. */
  async #write(
    key: string,
    bytes: Uint8Array | Blob,
    signal?: AbortSignal,
    isAllowed = () => true,
  ): Promise<string | null> {
    const path = this.#path(key);
    const working = join(this.#folder, WORKING);
    await mkdir(working, { recursive: true });
    const aside = join(working, `${PROCESS_ID}.${++asides}`);
    let etag: string;
    try {
      const file = await open(aside, 'w', 0o644);
      try {
        etag = (await hashed(bytes instanceof Uint8Array ? [bytes] : bytes.stream(), (part) => file.writeFile(part)))
          .etag;
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true });
      signal?.throwIfAborted();
      if (!isAllowed()) return null;
      // Synchronously, to minimize the window in which the process can be suspended.
      renameSync(aside, path);
    } finally {
      await rm(aside, { force: true });
    }
    for (let at = dirname(path); at.length >= this.#folder.length; at = dirname(at)) this.#touched.add(at);
    return etag;
  }

  /** Compares and replaces under a lock, because no file system does both atomically. */
  async #putIf(key: string, bytes: Uint8Array | Blob, onlyIf: 'absent' | { etag: string }): Promise<string | null> {
    const working = join(this.#folder, WORKING);
    await mkdir(working, { recursive: true });
    const lock = join(working, `${md5(Buffer.from(key))}.lock`);
    const mine = await this.#lock(lock);
    // If this process was suspended for long, another one may have broken its lock.
    const isLocked = () => textIn(lock) === mine;
    try {
      // The lock's own time, because the folder may be on a machine with another clock.
      const held = await unlessGone(stat(lock));
      if (held !== null) await removeOld(working, held.mtimeMs);
      const found = await this.#reading(key, contentOf);
      const holds = onlyIf === 'absent' ? found === null : found?.etag === onlyIf.etag;
      return holds ? await this.#write(key, bytes, undefined, isLocked) : null;
    } finally {
      if (isLocked()) await rm(lock, { force: true });
    }
  }

  /** Takes the lock. Returns the text of its file. */
  async #lock(lock: string): Promise<string> {
    const mine = `${this.#owner.name}:${++asides}`;
    let seen = { by: '', since: performance.now() };
    while (!(await isCreated(lock, mine))) {
      const by = String((await unlessGone(readFile(lock))) ?? '');
      if (by !== seen.by) seen = { by, since: performance.now() };
      if (this.#owner.isDead(by) || performance.now() - seen.since > LOCK_LASTS) await breakLock(lock, by);
      else await sleep(LOCK_POLL);
    }
    return mine;
  }

  /**
   * Works on an object's file; null without one. Throws `conflict` for pipes, which block, and devices without an end.
   */
  async #reading<T>(key: string, work: (file: FileHandle) => Promise<T>): Promise<T | null> {
    return this.#guarded(key, async () => {
      const path = this.#path(key);
      const file = await unlessGone(open(path, constants.O_RDONLY | constants.O_NONBLOCK));
      if (file === null) return null;
      try {
        if ((await file.stat()).isFile()) return await work(file);
        throw new Fault('conflict', `${path} is not a file; put one there, or remove it`);
      } finally {
        await file.close();
      }
    });
  }

  #path(key: string): string {
    return join(this.#folder, key);
  }

  async #guarded<T>(key: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Fault || codeOf(error) === 'ABORT_ERR') throw error;
      throw new Fault(
        'unavailable',
        `cannot write or read ${this.#path(key)} (${messageOf(error)}); free space or correct the permissions, then try again`,
      );
    }
  }
}

/** The ETag of content and its size, read part by part. */
async function hashed(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  each: (part: Uint8Array) => Promise<void> = async () => {},
): Promise<{ etag: string; size: number }> {
  const hash = createHash('md5');
  let size = 0;
  for await (const part of content) {
    hash.update(part);
    size += part.length;
    await each(part);
  }
  return { etag: hash.digest('hex'), size };
}

/** The ETag and the size of an open file. */
const contentOf = (file: FileHandle) => hashed(file.createReadStream({ start: 0, autoClose: false }));

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

async function isCreated(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes another process's lock, unless a new lock has replaced it. */
async function breakLock(lock: string, by: string): Promise<void> {
  const aside = `${lock}.${PROCESS_ID}.${++asides}`;
  if ((await unlessGone(rename(lock, aside).then(() => true))) === null) return;
  // A new lock had replaced it: it is moved back, unless yet another process has taken the lock meanwhile.
  if ((await readFile(aside, 'utf8')) !== by) await link(aside, lock).catch(() => {});
  await rm(aside, { force: true });
}

/** Removes the files of killed processes. `now` is a time (ms) of the clock that dates the files. */
async function removeOld(working: string, now: number): Promise<void> {
  for (const name of await readdir(working)) {
    const path = join(working, name);
    const info = await unlessGone(stat(path));
    if (info !== null && now - info.mtimeMs > LEFT_BEHIND) await rm(path, { force: true });
  }
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, Fault, messageOf } from '../fault.ts';
import type { Bucket, BucketObject, ObjectHead, PutOptions, StoredObject } from '../publish/bucket.ts';
import { MINUTE } from '../time.ts';
import { syncFolder } from './durable-file.ts';

/** A folder beside the objects, in which they are written before they are renamed, and where locks are. */
const WORKING = '.broadsheet';
/** A lock or an aside this old was left behind by a process that was killed, in ms. */
const LEFT_BEHIND = 10 * MINUTE;
const LOCK_POLL = 10;

let asides = 0;

/** A folder as a bucket: each object is a file, replaced at once. It keeps no headers. */
export class FolderBucket implements Bucket {
  readonly name: string;
  readonly keepsHeaders = false;
  readonly #folder: string;
  /** Folders whose entries changed since they were last synced. */
  readonly #touched = new Set<string>();

  constructor(folder: string) {
    this.name = `the folder ${folder}`;
    this.#folder = folder;
  }

  async get(key: string): Promise<StoredObject | null> {
    return this.#guarded(key, async () => {
      const bytes = await unlessGone(readFile(this.#path(key)));
      const info = bytes === null ? null : await unlessGone(stat(this.#path(key)));
      return bytes === null || info === null
        ? null
        : { bytes, etag: md5(bytes), age: Math.max(0, Date.now() - info.mtimeMs) };
    });
  }

  async head(key: string): Promise<ObjectHead | null> {
    const found = await this.get(key);
    return found && { size: found.bytes.length, etag: found.etag, headers: {} };
  }

  async put(key: string, bytes: Uint8Array, { onlyIf, signal }: PutOptions = {}): Promise<string | null> {
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
      const bytes = await this.#guarded(key, () => unlessGone(readFile(path)));
      if (bytes !== null) yield { key, size: bytes.length, etag: md5(bytes) };
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

  async #write(key: string, bytes: Uint8Array, signal?: AbortSignal): Promise<string> {
    const path = this.#path(key);
    const working = join(this.#folder, WORKING);
    await mkdir(working, { recursive: true });
    const aside = join(working, `${process.pid}.${++asides}`);
    try {
      const file = await open(aside, 'w', 0o644);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true });
      signal?.throwIfAborted();
      await rename(aside, path);
    } finally {
      await rm(aside, { force: true });
    }
    for (let at = dirname(path); at.length >= this.#folder.length; at = dirname(at)) this.#touched.add(at);
    return md5(bytes);
  }

  /** Compares and replaces under a lock, because no file system does both at once. */
  async #putIf(key: string, bytes: Uint8Array, onlyIf: 'absent' | { etag: string }): Promise<string | null> {
    const working = join(this.#folder, WORKING);
    await mkdir(working, { recursive: true });
    const lock = join(working, `${md5(Buffer.from(key))}.lock`);
    while (!(await isCreated(lock))) {
      const info = await unlessGone(stat(lock));
      if (info !== null && Date.now() - info.mtimeMs > LEFT_BEHIND) await rm(lock, { force: true });
      await sleep(LOCK_POLL);
    }
    try {
      await removeOld(working);
      const found = await unlessGone(readFile(this.#path(key)));
      const holds = onlyIf === 'absent' ? found === null : found !== null && md5(found) === onlyIf.etag;
      return holds ? await this.#write(key, bytes) : null;
    } finally {
      await rm(lock, { force: true });
    }
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
        `cannot write or read ${this.#path(key)} (${messageOf(error)}); free space or correct the permissions, then publish again`,
      );
    }
  }
}

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

async function isCreated(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes what processes that were killed left behind. */
async function removeOld(working: string): Promise<void> {
  for (const name of await readdir(working)) {
    const path = join(working, name);
    const info = await unlessGone(stat(path));
    if (info !== null && Date.now() - info.mtimeMs > LEFT_BEHIND) await rm(path, { force: true });
  }
}

import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { Settings } from '../../server/env.ts';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { copyOwned, makeFolder, putFile, syncFolder } from '../files/durable-file.ts';
import { realPath } from '../files/real-path.ts';
import { type Address, parseAddress, shownAddress } from './address.ts';
import { openS3, requireFolderApart } from './publish-target.ts';
import { writeLarge } from './s3-large.ts';

/** The public files of DUMPS_URL, by their names. Methods throw a Fault that names the cure. */
export interface DumpPlace {
  /** Its name in messages. */
  readonly name: string;
  /** The folder in which the files are; null where they are in a bucket. */
  readonly folder: string | null;
  /** Sends a file of this disk, whole or not at all. */
  put(name: string, file: string, type: string): Promise<void>;
  /** The sizes of all files, in bytes. */
  list(): Promise<Map<string, number>>;
  /** The bytes of a small file; null when there is none. */
  get(name: string): Promise<Uint8Array | null>;
  remove(names: readonly string[]): Promise<void>;
}

/** For how long caches may keep a file, in seconds: a name that opted out is gone from them after that. */
export const DUMP_AGE = 60;

/** The place of DUMPS_URL; null without one. Throws `invalid_request` where no dumps may be. */
export function openDumpPlace(settings: Settings): DumpPlace | null {
  const { dumps, archiveUrl, publishUrl, mediaUrl, objectStorage } = settings;
  if (dumps === null) return null;
  const what = `DUMPS_URL=${shownAddress(dumps.url)}`;
  const address = parseAddress(dumps.url, objectStorage);
  if (typeof address === 'string' || address.paper !== null) {
    const why = typeof address === 'string' ? address : 'must not have paper=';
    throw new Fault('invalid_request', `${what}: ${why}; correct it`);
  }
  if (address.kind === 'folder') requireFolderApart(settings, address.folder, what);
  // Dumps are public, and the owner of another place may remove files that it does not know.
  for (const [name, url] of Object.entries({ ARCHIVE_URL: archiveUrl, PUBLISH_URL: publishUrl, MEDIA_URL: mediaUrl })) {
    const other = url === null ? null : parseAddress(url, objectStorage);
    if (other === null || typeof other === 'string' || !overlap(address, other)) continue;
    throw new Fault('invalid_request', `${what}: must not hold or be within ${name}; name a place of its own`);
  }
  if (address.kind === 'folder') return folderPlace(address.folder);
  const bucket = openS3(settings, address);
  const { prefix } = address;
  return {
    name: bucket.name,
    folder: null,
    async put(name, file, type) {
      const headers = { 'content-type': type, 'cache-control': `public, max-age=${DUMP_AGE}` };
      await writeLarge(bucket, prefix + name, createReadStream(file), headers);
    },
    async list() {
      const found = new Map<string, number>();
      for await (const { key, size } of bucket.list(prefix)) found.set(key.slice(prefix.length), size);
      return found;
    },
    get: async (name) => (await bucket.get(prefix + name))?.bytes ?? null,
    remove: (names) => bucket.remove(names.map((name) => prefix + name)),
  };
}

function overlap(a: Address, b: Address): boolean {
  if (a.kind === 'folder' && b.kind === 'folder') {
    const [one, two] = [realPath(a.folder) + sep, realPath(b.folder) + sep];
    return one.startsWith(two) || two.startsWith(one);
  }
  if (a.kind !== 's3' || b.kind !== 's3' || a.bucket !== b.bucket || a.endpoint !== b.endpoint) return false;
  return a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix);
}

function folderPlace(folder: string): DumpPlace {
  const guarded = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const what = `cannot write or read ${join(folder, name)} (${messageOf(error)})`;
      throw new Fault('unavailable', `${what}; free space or correct the permissions`);
    }
  };
  return {
    name: `the folder ${folder}`,
    folder,
    put: (name, file) =>
      guarded(name, () => {
        makeFolder(folder);
        putFile(join(folder, basename(name)), (aside) => copyOwned(file, aside));
      }),
    list: () =>
      guarded('', async () => {
        const found = new Map<string, number>();
        for (const entry of await unlessGone(readdir(folder, { withFileTypes: true }), [])) {
          if (!entry.isFile() || entry.name.startsWith('.')) continue;
          const info = await unlessGone(stat(join(folder, entry.name)), null);
          if (info !== null) found.set(entry.name, info.size);
        }
        return found;
      }),
    get: (name) => guarded(name, () => unlessGone(readFile(join(folder, name)), null)),
    remove: (names) =>
      guarded(names[0] ?? '', async () => {
        for (const name of names) await rm(join(folder, name), { force: true });
        if (names.length > 0) syncFolder(folder);
      }),
  };
}

async function unlessGone<T, Gone>(work: Promise<T>, gone: Gone): Promise<T | Gone> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return gone;
    throw error;
  }
}

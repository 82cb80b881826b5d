import type { Settings } from '../../server/env.ts';
import { Fault } from '../fault.ts';
import { folderOfNode } from '../nodes.ts';
import { type Address, parseAddress, shownAddress } from './address.ts';
import { requireUnpublished } from './backup-location.ts';
import type { Bucket, BucketObject, ObjectHead, PutOptions, StoredObject } from './bucket.ts';
import { openBucket, requireFolderApart } from './publish-target.ts';

/** The prefix of the keys of seeds, which may have credentials of their own. */
export const SEEDS = 'seeds/';

/** The archive's objects, by keys without the prefix of ARCHIVE_URL. Methods throw as those of a bucket. */
export interface ArchivePlace {
  /** Its name in messages. */
  readonly name: string;
  get(key: string, max?: number): Promise<StoredObject | null>;
  /** The ETag of an object; null when it is not there. */
  etag(key: string): Promise<string | null>;
  head(key: string): Promise<ObjectHead | null>;
  isFree(key: string): Promise<boolean>;
  range(key: string, etag: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array | null>;
  put(key: string, bytes: Uint8Array | Blob, onlyIf?: PutOptions['onlyIf']): Promise<string | null>;
  list(prefix: string): AsyncIterable<BucketObject>;
  remove(keys: readonly string[]): Promise<void>;
  flush(): Promise<void>;
  /** The objects below a prefix, as a place of their own. */
  below(prefix: string): ArchivePlace;
}

/** The archive of this service or node; null without ARCHIVE_URL. Throws `invalid_request` where no archive may be. */
export function openArchivePlace(settings: Settings, ending?: AbortSignal): ArchivePlace | null {
  const all = openWholeArchive(settings, ending);
  const own = settings.nodes?.own ?? null;
  return own === null || all === null ? all : all.below(folderOfNode(own.name));
}

/** The place of ARCHIVE_URL, with the archives of all nodes below `nodes/`. */
export function openWholeArchive(settings: Settings, ending?: AbortSignal): ArchivePlace | null {
  const { archiveUrl, archiveSeeds, objectStorage } = settings;
  if (archiveUrl === null) return null;
  const address = archiveAddress(archiveUrl, settings);
  const main = openBucket(settings, address, ending);
  const seeds =
    archiveSeeds === null
      ? main
      : openBucket(
          { ...settings, objectStorage: { ...objectStorage, sessionToken: undefined, ...archiveSeeds } },
          address,
          ending,
        );
  return archivePlace(main, seeds, address.kind === 's3' ? address.prefix : '');
}

/**
 * Parses ARCHIVE_URL. Throws `invalid_request` for the place of PUBLISH_URL, which is public, and where a publication
 * removes files that it does not know; and for the program's own folders.
 */
export function archiveAddress(text: string, settings: Settings): Address {
  const address = parseAddress(text, settings.objectStorage);
  if (typeof address === 'string' || address.paper !== null) {
    const why = typeof address === 'string' ? address : 'must not have paper=';
    throw new Fault('invalid_request', `ARCHIVE_URL=${shownAddress(text)}: ${why}; correct it`);
  }
  const what = `ARCHIVE_URL=${shownAddress(text)}`;
  if (address.kind === 'folder') requireFolderApart(settings, address.folder, what);
  else requireUnpublished(settings, address, what);
  return address;
}

/** The objects below a prefix of a bucket. `seeds` is the same bucket with the credentials for the seeds. */
export function archivePlace(main: Bucket, seeds: Bucket, prefix: string): ArchivePlace {
  const of = (key: string): Bucket => (key.startsWith(SEEDS) ? seeds : main);
  return {
    name: main.name,
    get: (key, max) => of(key).get(prefix + key, max),
    etag: async (key) => (await of(key).head(prefix + key))?.etag ?? null,
    head: (key) => of(key).head(prefix + key),
    isFree: (key) => of(key).isFree(prefix + key),
    range: (key, etag, start, end, signal) => of(key).range(prefix + key, etag, start, end, signal),
    put: (key, bytes, onlyIf) => of(key).put(prefix + key, bytes, onlyIf === undefined ? {} : { onlyIf }),
    async *list(under) {
      for await (const object of of(under).list(prefix + under)) {
        yield { ...object, key: object.key.slice(prefix.length) };
      }
    },
    async remove(keys) {
      for (const bucket of new Set([main, seeds])) {
        const own = keys.filter((key) => of(key) === bucket);
        if (own.length > 0) await bucket.remove(own.map((key) => prefix + key));
      }
    },
    below: (under) => archivePlace(main, seeds, prefix + under),
    async flush() {
      for (const bucket of new Set([main, seeds])) await bucket.flush();
    },
  };
}

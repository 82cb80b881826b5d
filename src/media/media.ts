import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../shared/fault.ts';
import { copyOwned, makeFolder, putFile, syncFolder } from '../shared/files/durable-file.ts';
import { digestOf } from '../shared/files/file-digest.ts';

/**
 * Media files by content: the bytes of `sha256:abcd…` are in `ab/abcd…`. They are durable when `keepFile` or
 * `keepBytes` returns, before the ledger names them.
 */
export function mediaFiles(folder: string) {
  const pathOf = (digest: string): string => join(folder, mediaKey(digest));
  const keep = (digest: string, write: (path: string) => void): void => {
    const path = pathOf(digest);
    makeFolder(dirname(path));
    // Another process may have just written the file without syncing its name yet. A damaged file is replaced.
    if (existsSync(path) && digestOf(path) === digest) syncFolder(dirname(path));
    else putFile(path, write);
  };
  return {
    folder,
    pathOf,
    /** Whether there is a file for this digest. It may be damaged. */
    has: (digest: string): boolean => existsSync(pathOf(digest)),
    /** Stores a copy of a file, or these bytes in its stead. Throws `conflict` for a file that has changed since. */
    keepFile: (digest: string, from: string, bytes?: Uint8Array): void =>
      keep(digest, (path) => {
        if (bytes !== undefined) return writeFileSync(path, bytes, { mode: 0o644 });
        copyOwned(from, path);
        if (digestOf(path) === digest) return;
        throw new Fault('conflict', 'the file changed while it was read; file it again when it is written');
      }),
    /** Renames a synced file of the same file system into the place of its digest. */
    adopt: (digest: string, from: string): void => {
      const path = pathOf(digest);
      makeFolder(dirname(path));
      renameSync(from, path);
      syncFolder(dirname(path));
    },
    keepBytes: (digest: string, bytes: Uint8Array): void =>
      keep(digest, (path) => writeFileSync(path, bytes, { mode: 0o644 })),
  };
}
export type MediaFiles = ReturnType<typeof mediaFiles>;

/** The path of a media file below a folder or a prefix: `ab/abcd…`. */
export function mediaKey(digest: string): string {
  const hex = digest.slice('sha256:'.length);
  return `${hex.slice(0, 2)}/${hex}`;
}

/** The fault of a press whose media file is missing or damaged. `details` names it, because they survive threads. */
export function missingMedia(digest: string): Fault {
  return new Fault('unavailable', `the media file ${digest} is missing in DATA_DIR, or damaged; file it again`, {
    missing_media: digest,
  });
}

/** The digest in such a fault; null for any other error. */
export function missingMediaIn(error: unknown): string | null {
  const digest = error instanceof Fault ? error.details.missing_media : undefined;
  return typeof digest === 'string' ? digest : null;
}

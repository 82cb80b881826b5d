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
    // Another process may have just written it and not synced its name yet. A damaged one is replaced.
    if (existsSync(path) && digestOf(path) === digest) syncFolder(dirname(path));
    else putFile(path, write);
  };
  return {
    folder,
    pathOf,
    /** Whether there is a file of this content. It may be damaged. */
    has: (digest: string): boolean => existsSync(pathOf(digest)),
    /** Stores a copy of a file, or these bytes in its stead. Throws `conflict` for a file that has changed since. */
    keepFile: (digest: string, from: string, bytes?: Uint8Array): void =>
      keep(digest, (path) => {
        if (bytes !== undefined) return writeFileSync(path, bytes, { mode: 0o644 });
        copyOwned(from, path);
        if (digestOf(path) === digest) return;
        throw new Fault('conflict', 'the file changed while it was read; file it again when it is written');
      }),
    /** Takes a file of this folder, whose bytes are on disk, as the content of that digest. */
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

/** Where a media file is below a folder or a prefix: `ab/abcd…`. */
export function mediaKey(digest: string): string {
  const hex = digest.slice('sha256:'.length);
  return `${hex.slice(0, 2)}/${hex}`;
}

/** The fault of a press that needs a media file which is not there whole. It says which one, also to other threads. */
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

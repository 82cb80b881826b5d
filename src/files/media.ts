import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, putFile, syncFolder } from './durable-file.ts';

/**
 * Media files by content: the bytes of `sha256:abcd…` are in `ab/abcd…`. They are durable when `keepFile` or
 * `keepBytes` returns, before the ledger names them.
 */
export function mediaFiles(folder: string) {
  const pathOf = (digest: string): string => {
    const hex = digest.slice('sha256:'.length);
    return join(folder, hex.slice(0, 2), hex);
  };
  const keep = (digest: string, write: (path: string) => void): void => {
    const path = pathOf(digest);
    makeFolder(dirname(path));
    // Another process may have just written it and not synced its name yet.
    if (existsSync(path)) syncFolder(dirname(path));
    else putFile(path, write);
  };
  return {
    pathOf,
    /** Stores a copy of a file, or these bytes in its stead. */
    keepFile: (digest: string, from: string, bytes?: Uint8Array): void =>
      keep(digest, (path) => (bytes === undefined ? copyFileSync(from, path) : writeFileSync(path, bytes))),
    keepBytes: (digest: string, bytes: Uint8Array): void => keep(digest, (path) => writeFileSync(path, bytes)),
  };
}
export type MediaFiles = ReturnType<typeof mediaFiles>;

import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Media by their content: the bytes of `sha256:abcd…` are in `ab/abcd…`. */
export function mediaFiles(folder: string) {
  const pathOf = (digest: string): string => {
    const hex = digest.slice('sha256:'.length);
    return join(folder, hex.slice(0, 2), hex);
  };
  const keep = (digest: string, put: (path: string) => void): void => {
    const path = pathOf(digest);
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    put(`${path}.new`);
    renameSync(`${path}.new`, path);
  };
  return {
    pathOf,
    /** Keeps a copy of a file. */
    keepFile: (digest: string, from: string): void => keep(digest, (path) => copyFileSync(from, path)),
    keepBytes: (digest: string, bytes: Uint8Array): void => keep(digest, (path) => writeFileSync(path, bytes)),
  };
}
export type MediaFiles = ReturnType<typeof mediaFiles>;

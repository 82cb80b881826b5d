import type { Manifest } from '../backup/manifest.ts';
import { requireMigrations } from '../backup/manifest.ts';
import { RestoreFolder } from '../backup/restore-folder.ts';
import { unpack } from '../backup/unpack.ts';
import { lockFile } from '../store/file-lock.ts';
import { migrationFiles } from '../store/migration-files.ts';
import type { BackupPlace } from './backup-place.ts';

export interface Restored {
  manifest: Manifest;
  /** The paths of what is in the folder now, without media. */
  files: string[];
  /** In bytes. */
  size: number;
}

/**
 * Restores a backup into a folder that is empty or not there. The files are in place when every digest was compared,
 * else the folder is left as it was.
 */
export async function restore(
  place: BackupPlace,
  folder: string,
  progress: (bytes: number, what: string) => void,
): Promise<Restored> {
  const into = await RestoreFolder.open(folder, lockFile);
  const files: string[] = [];
  let size = 0;
  try {
    const manifest = await unpack({
      name: place.name === '-' ? 'standard input' : place.name,
      source: place.read(),
      begin: (found) => requireMigrations(found, migrationFiles(), place.name),
      async file(path, length, content) {
        await into.write(path, content);
        if (!path.startsWith('media/')) files.push(path);
        size += length;
        progress(size, path);
      },
    });
    await into.finish();
    return { manifest, files, size };
  } catch (error) {
    await into.discard();
    throw error;
  }
}

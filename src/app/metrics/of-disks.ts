import { stat, statfs } from 'node:fs/promises';
import { codeOf } from '../../fault.ts';
import { databaseFile } from '../context.ts';
import type { SampledRegistry } from './sampled-registry.ts';
import type { DiskReadings, MetricSources } from './sources.ts';

/** The disks of the folders, and the size of the database. */
export function ofDisks(registry: SampledRegistry, { app: { settings } }: MetricSources): DiskReadings {
  const free = registry.gauge('disk_free_bytes', 'Free space for this user on the disk of a folder.', ['folder']);
  const size = registry.gauge('disk_size_bytes', 'Size of the disk of a folder.', ['folder']);
  const bytes = registry.gauge('database_bytes', 'Size of the database and of its write-ahead log.', ['file']);

  const disk = async (folder: string, path: string): Promise<void> => {
    const found = await orMissing(statfs(path));
    // Each folder is created by its first writer.
    if (found === null) return;
    free.set({ folder }, found.bavail * found.bsize);
    size.set({ folder }, found.blocks * found.bsize);
  };
  return {
    disk_data: () => disk('data', settings.dataDir),
    disk_papers: () => disk('papers', settings.distDir),
    disk_log: () => disk('log', settings.logDir),
    async database() {
      const file = databaseFile(settings);
      bytes.set({ file: 'database' }, (await stat(file)).size);
      // The log is there while the database is open, and empty after a checkpoint.
      bytes.set({ file: 'log' }, (await orMissing(stat(`${file}-wal`)))?.size ?? 0);
    },
  };
}

/** Null when there is no such file. */
function orMissing<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}

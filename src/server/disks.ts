import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, type DiskState } from '../shared/fault.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from './env.ts';

/** A disk with less free space than this counts as full, in bytes: it could not hold a page. */
const LEAST_FREE = 64 * 1024;

/**
 * Why nothing can be written to the disks of DATA_DIR, DIST_DIR and LOG_DIR; null for a disk that can be written. For
 * `data`, an error of the last write takes precedence.
 */
export async function diskStates(
  { dataDir, distDir, logDir }: Pick<Settings, 'dataDir' | 'distDir' | 'logDir'>,
  store: Pick<Store, 'database'>,
) {
  const [data, papers, log] = await Promise.all([dataDir, distDir, logDir].map(diskState));
  return { data: store.database.diskFault() ?? data ?? null, papers: papers ?? null, log: log ?? null };
}

/** The first problem of the three disks; null without one. */
export function anyDiskState({ data, papers, log }: Awaited<ReturnType<typeof diskStates>>): DiskState | null {
  return data ?? papers ?? log;
}

/** Asks the file system, and writes nothing. A folder that does not exist yet is judged by the one above it. */
async function diskState(folder: string): Promise<DiskState | null> {
  try {
    await access(folder, constants.W_OK);
    const { bsize, bavail, bfree, files, ffree } = await statfs(folder);
    // Root may use the blocks that are reserved for it. Some file systems count no files.
    const free = bsize * (process.getuid?.() === 0 ? bfree : bavail);
    return free < LEAST_FREE || (files > 0 && ffree === 0) ? 'full' : null;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && folder !== dirname(folder)) return diskState(dirname(folder));
    return code === 'EROFS' ? 'read_only' : 'failing';
  }
}

import { existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import type { TileReader } from '../../proof/log/tile.ts';
import { withAppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { RestoreFolder } from '../../shared/files/restore-folder.ts';
import { lockFile } from '../../shared/sql/file-lock.ts';
import { migrationFiles, requireOurs } from '../../shared/sql/open.ts';
import type { BackupLocation } from '../../shared/storage/backup-location.ts';
import { hasRoot } from '../../shared/transparency/log-tree.ts';
import { logFolder, publishedCheckpoint, publishedTiles } from '../../signing/log/log-files.ts';
import { openStore, type Store } from '../../store/store.ts';
import { auditApp } from '../audit/audit.ts';
import { requireMigrations } from './manifest.ts';
import { unpack } from './unpack.ts';

/**
 * Restores a backup into an empty folder: whole, or not at all. Returns the paths of the files without media, and the
 * size in bytes.
 */
export async function restore(
  location: BackupLocation,
  folder: string,
  progress: (bytes: number, what: string) => void,
) {
  const into = await RestoreFolder.open(folder, lockFile);
  const files: string[] = [];
  let size = 0;
  try {
    const manifest = await unpack({
      name: location.name === '-' ? 'standard input' : location.name,
      source: location.read(),
      begin: (found) => requireMigrations(found, migrationFiles(), location.name),
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

interface DrillProgress {
  restored(bytes: number, what: string): void;
  audited(label: string, done: number, total: number, what: string): void;
}

/**
 * Restores a backup into a temporary folder, audits it, and compares its logs with those of this machine. `heads` says
 * what each log was compared with.
 */
export async function drill(settings: Settings, location: BackupLocation, progress: DrillProgress) {
  const folder = await mkdtemp(join(tmpdir(), 'broadsheet-drill-'));
  // The folder holds keys, so it is removed even when the drill is stopped.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const dataDir = join(folder, 'var');
    const { manifest, size } = await restore(location, dataDir, progress.restored);
    const there = { ...settings, dataDir, distDir: join(folder, 'papers'), logDir: join(folder, 'log') };
    return await withAppContext(there, async (app) => {
      const audit = await auditApp(app, { trees: false, progress: progress.audited });
      const heads: string[] = [];
      const faults = [...audit.faults];
      const inUse = stateOf(databaseFile(settings));
      if (inUse === 'other') {
        heads.push(`the database ${databaseFile(settings)} is not of this version: it was not opened, nor compared`);
      }
      const isComparable = inUse === 'ours';
      for (const log of LOG_SERVICES) compareLog(settings, app.store, { log, isComparable, heads, faults });
      return { manifest, size, audit, heads, faults };
    });
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Compares the newest head of a restored log with what was published, and with the database in use. */
function compareLog(
  settings: Settings,
  restored: Store,
  { log, isComparable, heads, faults }: { log: LogService; isComparable: boolean; heads: string[]; faults: string[] },
): void {
  const newest = restored.database.log.lastHead(log);
  if (newest === null) {
    heads.push(`log of the ${log}: the backup has no head`);
    return;
  }
  const head = parseCheckpoint(newest.checkpoint);
  const compare = (name: string, other: { size: number; root: Uint8Array; tiles: TileReader }): void => {
    const [small, tiles] = other.size < head.size ? [other, restored.database.log.tiles(log)] : [head, other.tiles];
    const isSame = holds(() => hasRoot(tiles, small));
    const line = `log of the ${log}: a head of ${leaves(head.size)}; ${name} has ${leaves(other.size)}`;
    if (!isSame) faults.push(`${line}, and the first ${small.size.toLocaleString('en')} are others`);
    else if (other.size > head.size) heads.push(`${line}: ${leaves(other.size - head.size)} signed since the backup`);
    else heads.push(`${line}, with the same first ${small.size.toLocaleString('en')}`);
  };
  const folder = logFolder(settings.logDir, log);
  const text = publishedCheckpoint(folder);
  const published = text === null ? null : parseCheckpoint(text);
  const isPublished = published?.origin === head.origin;
  if (isPublished) compare(`the published log in ${folder}`, { ...published, tiles: publishedTiles(folder) });
  const file = databaseFile(settings);
  const live = isComparable ? openStore({ file }) : null;
  try {
    const there = live?.database.log.newestHead(log, head.origin) ?? null;
    if (live !== null && there !== null) {
      compare(`the database ${file}`, { ...parseCheckpoint(there.checkpoint), tiles: live.database.log.tiles(log) });
    } else if (!isPublished) {
      const alone = 'compared with nothing: this machine has no other copy';
      heads.push(`log of the ${log}: a head of ${leaves(head.size)}, ${alone}`);
    }
  } finally {
    live?.database.close();
  }
}

/** Whether the database in use has this version's schema: opening an older one would migrate it under its server. */
function stateOf(file: string): 'none' | 'other' | 'ours' {
  if (!existsSync(file)) return 'none';
  const known = migrationFiles();
  return holds(() => requireOurs(file).length === known.length) ? 'ours' : 'other';
}

/** False also when the check throws, because damaged files prove nothing. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const leaves = (size: number) => `${size.toLocaleString('en')} ${size === 1 ? 'leaf' : 'leaves'}`;

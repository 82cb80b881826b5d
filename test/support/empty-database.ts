import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/shared/sql/open.ts';

let empty: Buffer | undefined;

/**
 * Puts an empty database with this program's schema into a data folder that has none, and returns its path. Copying one
 * takes a fraction of the time of running every migration, which test/store/upgrade.test.ts tests.
 */
export function emptyDatabase(dataDir: string): string {
  const file = join(dataDir, 'broadsheet.db');
  const isTaken = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false;
  if (isTaken || existsSync(file)) return file;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  empty ??= readEmpty();
  writeFileSync(file, empty, { mode: 0o600 });
  sharePictures(dataDir);
  return file;
}

/**
 * Makes all data folders of a run of test/run.mjs share drawn pictures, as the processes of one data folder do: most
 * tests have the same few personas and pictures.
 */
function sharePictures(dataDir: string): void {
  const { PRESSED_DEMO: run } = process.env;
  const link = join(dataDir, 'pictures');
  if (run === undefined || existsSync(link)) return;
  const drawn = join(run, 'drawn');
  mkdirSync(drawn, { recursive: true });
  symlinkSync(drawn, link);
}

/** The same database for all processes of a run of test/run.mjs; without it, for this process. */
function readEmpty(): Buffer {
  const { PRESSED_DEMO: run } = process.env;
  const kept = run === undefined ? null : join(run, 'empty.db');
  if (kept !== null && existsSync(kept)) return readFileSync(kept);
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-'));
  try {
    const made = join(folder, 'empty.db');
    const db = openDatabase({ file: made });
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    if (kept !== null) {
      copyFileSync(made, `${kept}.${process.pid}`);
      renameSync(`${kept}.${process.pid}`, kept);
    }
    return readFileSync(made);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Gives a data folder its own drawn pictures, for a test that damages or counts them. */
export function ownPictures(dataDir: string): void {
  rmSync(join(dataDir, 'pictures'), { force: true });
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Settings } from '../env.ts';
import { putFile } from '../files/durable-file.ts';

/** The last backup of a DATA_DIR: when it was begun, its place and its size in bytes. */
const BackupNote = z.object({ at: z.number(), place: z.string(), bytes: z.number() });
export type BackupNote = z.infer<typeof BackupNote>;

const fileIn = ({ dataDir }: Pick<Settings, 'dataDir'>): string => join(dataDir, 'backup.last');

/** Notes a backup that is complete, for doctor and the metrics. It is not part of any backup itself. */
export function noteBackup(settings: Pick<Settings, 'dataDir'>, note: BackupNote): void {
  putFile(fileIn(settings), (aside) => writeFileSync(aside, `${JSON.stringify(note)}\n`));
}

/** The last backup recorded on this machine; null without one. */
export function lastBackup(settings: Pick<Settings, 'dataDir'>): BackupNote | null {
  try {
    return BackupNote.parse(JSON.parse(readFileSync(fileIn(settings), 'utf8')));
  } catch {
    return null;
  }
}

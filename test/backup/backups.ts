import { backupSource } from '../../src/operate/backup/backup-source.ts';
import { pack } from '../../src/operate/backup/pack.ts';
import type { Settings } from '../../src/server/env.ts';
import { Fault } from '../../src/shared/fault.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';

/** A clock for names of backups. */
export const AT = Date.parse('2026-11-20T09:30:00Z');

/** Backs up as the command does, in this process. */
export async function backUp(settings: Settings, text: string) {
  const source = backupSource(settings, { names: ['ORIGIN'], now: AT, progress: () => {} });
  try {
    await backupLocation(settings, text, AT).write(pack(source.files, AT));
    return source;
  } finally {
    source.close();
  }
}

/** The one line of the fault that work ends with. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('no fault'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Fault) || error.message.includes('\n')) throw error;
  return error.message;
}

import { Command } from 'commander';
import { backupPlace } from '../app/backup-place.ts';
import { type BackupNote, backupSource, noteBackup } from '../app/backup-source.ts';
import { pack } from '../backup/pack.ts';
import { readSettings, type Settings, settingNames } from '../env.ts';
import { messageOf } from '../fault.ts';
import { plural } from '../plural.ts';
import { inMegabytes, sizeText } from '../size.ts';
import { givenPlace } from '../terminal/given-place.ts';
import { printError, printResult } from '../terminal/output.ts';
import { progressTo } from '../terminal/progress.ts';

export function command(): Command {
  return new Command('backup')
    .description('write the database, the keys and the media of DATA_DIR into one file, while the server runs')
    .argument('<place>', 'a file, a folder, s3://BUCKET/KEY, or - for standard output')
    .option('--json', 'print the outcome as JSON')
    .addHelpText(
      'after',
      '\nThe file holds secrets: keys, and the addresses of readers. It is readable by you alone.\nExit code 0: everything is in the backup; 1: otherwise.',
    )
    .action(async (text: string, { json }: { json?: boolean }) => {
      const settings = readSettings();
      const now = Date.now();
      const place = backupPlace(settings, givenPlace(text), now);
      const progress = progressTo();
      const step = (done: number, total: number, what: string) =>
        progress.step('back up (MB)', inMegabytes(done), inMegabytes(total), what);
      const source = backupSource(settings, { names: settingNames(), now, progress: step });
      const written = await place.write(pack(source.files, now)).finally(() => {
        source.close();
        progress.end();
      });
      const { missing, keys, media, database } = source;
      for (const digest of missing)
        printError(`${digest}: the ledger names this media file, but DATA_DIR does not have it`);
      if (missing.length > 0) process.exitCode = 1;
      else noted(settings, { at: now, place: place.name === '-' ? 'standard output' : place.name, bytes: written });
      if (place.name === '-') return;
      const parts = `database ${sizeText(database)}, ${plural(keys.length, 'key')}, ${plural(media.files, 'media file')}`;
      printResult(json, { file: place.name, bytes: written, database, keys, media, missing }, [
        `backed up to ${place.name}: ${sizeText(written)} (${parts}); it holds secrets: keep it where only you can read it`,
      ]);
    });
}

/** A backup is complete without its note, as where the backup's user may not write to DATA_DIR. */
function noted(settings: Settings, note: BackupNote): void {
  try {
    noteBackup(settings, note);
  } catch (error) {
    printError(`the backup is complete, and DATA_DIR could not note it for doctor: ${messageOf(error)}`);
  }
}

import { Command } from 'commander';
import { type BackupNote, backupSource, noteBackup } from '../operate/backup/backup-source.ts';
import { pack } from '../operate/backup/pack.ts';
import { drill, restore as restoreBackup } from '../operate/backup/restore.ts';
import { readSettings, type Settings, settingNames } from '../server/env.ts';
import { CLI } from '../shared/command-line.ts';
import { messageOf } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { inMegabytes, sizeText } from '../shared/size.ts';
import { backupLocation } from '../shared/storage/backup-location.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { progressTo, withProgress } from '../shared/terminal/progress.ts';
import { givenAddress } from '../shared/terminal/project-folder.ts';
import { onStopSignal } from '../shared/terminal/stop-signal.ts';

export function backup(): Command {
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
      const location = backupLocation(settings, givenAddress(text), now);
      const progress = progressTo();
      const step = (done: number, total: number, what: string) =>
        progress.step('back up (MB)', inMegabytes(done), inMegabytes(total), what);
      const source = backupSource(settings, { names: settingNames(), now, progress: step });
      const written = await location.write(pack(source.files, now)).finally(() => {
        source.close();
        progress.end();
      });
      const { missing, keys, media, database } = source;
      for (const digest of missing)
        printError(`${digest}: the ledger names this media file, but DATA_DIR does not have it`);
      if (missing.length > 0) process.exitCode = 1;
      else
        noted(settings, { at: now, place: location.name === '-' ? 'standard output' : location.name, bytes: written });
      if (location.name === '-') return;
      const parts = `database ${sizeText(database)}, ${plural(keys.length, 'key')}, ${plural(media.files, 'media file')}`;
      printResult(json, { file: location.name, bytes: written, database, keys, media, missing }, [
        `backed up to ${location.name}: ${sizeText(written)} (${parts}); it holds secrets: keep it where only you can read it`,
      ]);
    });
}

/** Records the backup. It is complete even when that fails, as for a user who may not write to DATA_DIR. */
function noted(settings: Settings, note: BackupNote): void {
  try {
    noteBackup(settings, note);
  } catch (error) {
    printError(`the backup is complete, and DATA_DIR could not note it for doctor: ${messageOf(error)}`);
  }
}

export function restore(): Command {
  return new Command('restore')
    .description('restore a backup into an empty DATA_DIR')
    .argument('<place>', 'a file, s3://BUCKET/KEY, or - for standard input')
    .option(
      '--drill',
      'restore into a temporary folder, audit it, compare its logs with those of this machine, and remove it',
    )
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nExit code 0: restored, or with --drill no faults; 1: otherwise.')
    .action(async (text: string, options: { drill?: boolean; json?: boolean }) => {
      const settings = readSettings();
      await (options.drill === true ? runDrill : runRestore)(settings, text, options.json);
    });
}

async function runRestore(settings: Settings, text: string, json: boolean | undefined): Promise<void> {
  const location = backupLocation(settings, givenAddress(text), Date.now());
  const { manifest, files, size } = await withProgress((step) =>
    restoreBackup(location, settings.dataDir, (bytes, what) => step('restore (MB)', inMegabytes(bytes), null, what)),
  );
  const named = files.filter((file) => file.startsWith('settings/'));
  const here = settingNames();
  const unset = manifest.settings.filter((name) => !here.includes(name));
  printResult(json, { folder: settings.dataDir, bytes: size, files, manifest }, [
    `restored ${settings.dataDir} as it was on ${manifest.made_at}: ${sizeText(size)}, ${plural(manifest.media.files, 'media file')}, ${files.filter((file) => !named.includes(file)).join(', ')}`,
    ...named.map(
      (file) =>
        `${settings.dataDir}/${file} is the file that ${file.slice('settings/'.length)} named; set it to this path`,
    ),
    ...(unset.length === 0 ? [] : [`settings that were set there and are not set here: ${unset.join(', ')}`]),
    `next: make sure that the old server is stopped for good, then \`${CLI} doctor\`, \`press --full\` and \`audit\`, then start the server`,
  ]);
}

async function runDrill(settings: Settings, text: string, json: boolean | undefined): Promise<void> {
  const location = backupLocation(settings, givenAddress(text), Date.now());
  // The folder holds keys, and is removed by a handler of `exit`, which does not run when a signal ends the process.
  onStopSignal(() => process.exit(1));
  const { manifest, size, audit, heads, faults } = await withProgress((audited) =>
    drill(settings, location, {
      restored: (bytes, what) => audited('restore (MB)', inMegabytes(bytes), null, what),
      audited,
    }),
  );
  const { generations, observations, leaves } = audit;
  const looked = `${sizeText(size)} restored and every digest compared; ${plural(generations, 'generation')}, ${plural(observations, 'observation')}, ${plural(leaves, 'leaf', 'leaves')} and ${plural(manifest.media.files, 'media file')} audited`;
  printResult(json, { backup: location.name, made_at: manifest.made_at, bytes: size, audit, heads, faults }, [
    ...faults,
    ...heads,
    `the backup of ${manifest.made_at}: ${looked}; ${plural(faults.length, 'fault')}. Not checked: pressed files, and whether the keys are all that are needed`,
  ]);
  if (faults.length > 0) process.exitCode = 1;
}

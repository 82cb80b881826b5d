import { Command } from 'commander';
import { backupPlace } from '../app/backup-place.ts';
import { drill, restore } from '../app/restore.ts';
import { readSettings, type Settings, settingNames } from '../env.ts';
import { plural } from '../plural.ts';
import { inMegabytes, sizeText } from '../size.ts';
import { givenPlace } from '../terminal/given-place.ts';
import { printResult } from '../terminal/output.ts';
import { progressTo } from '../terminal/progress.ts';
import { onStopSignal } from '../terminal/stop-signal.ts';

export function command(): Command {
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
  const place = backupPlace(settings, givenPlace(text), Date.now());
  const progress = progressTo();
  const restored = await restore(place, settings.dataDir, (bytes, what) =>
    progress.step('restore (MB)', inMegabytes(bytes), null, what),
  ).finally(progress.end);
  const { manifest, files, size } = restored;
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
    'next: make sure that the old server is stopped for good, then `npm run -s broadsheet -- doctor`, `press --full` and `audit`, then start the server',
  ]);
}

async function runDrill(settings: Settings, text: string, json: boolean | undefined): Promise<void> {
  const place = backupPlace(settings, givenPlace(text), Date.now());
  // The folder holds keys. It is removed as the process exits, which a signal by itself would not be.
  onStopSignal(() => process.exit(1));
  const progress = progressTo();
  const found = await drill(settings, place, {
    restored: (bytes, what) => progress.step('restore (MB)', inMegabytes(bytes), null, what),
    audited: progress.step,
  }).finally(progress.end);
  const { manifest, size, audit, heads, faults } = found;
  const { generations, observations, leaves } = audit;
  const looked = `${sizeText(size)} restored and every digest compared; ${plural(generations, 'generation')}, ${plural(observations, 'observation')}, ${plural(leaves, 'leaf', 'leaves')} and ${plural(manifest.media.files, 'media file')} audited`;
  printResult(json, { backup: place.name, made_at: manifest.made_at, bytes: size, audit, heads, faults }, [
    ...faults,
    ...heads,
    `the backup of ${manifest.made_at}: ${looked}; ${plural(faults.length, 'fault')}. Not looked at: pressed files, and whether the keys are all that are needed`,
  ]);
  if (faults.length > 0) process.exitCode = 1;
}

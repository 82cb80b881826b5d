import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { requireNpmFolder } from '../operate/upgrade/staged-install.ts';
import { upgrade } from '../operate/upgrade/upgrade.ts';
import { readSettings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { PROJECT } from '../shared/project.ts';
import { printResult } from '../shared/terminal/output.ts';
import { givenPath } from '../shared/terminal/project-folder.ts';

interface Options {
  stop?: string;
  start?: string;
  dryRun?: boolean;
}

export function command(): Command {
  return new Command('upgrade')
    .description(
      'install another version of the package: say what it changes, back up, upgrade, and go back if it fails',
    )
    .argument('[version]', 'a version, or the file of a package, as in ./broadsheet-0.2.0.tgz', 'latest')
    .option('--stop <command>', 'stops the server, as in "systemctl stop broadsheet"')
    .option('--start <command>', 'starts the server, as in "systemctl start broadsheet"')
    .option('--dry-run', 'only show what the version will change')
    .addHelpText(
      'after',
      '\nExit code 0: upgraded, or nothing to upgrade; 1: otherwise, with the old version in place.',
    )
    .action(async (version: string, { stop, start, dryRun = false }: Options) => {
      if ((stop === undefined) !== (start === undefined))
        throw new Fault('invalid_request', 'give both --stop and --start, or neither');
      requireNpmFolder(process.cwd(), PROJECT);
      const wanted = /\.tgz$|[\\/]/.test(version) ? resolve(givenPath(version)) : version;
      if (wanted !== version && !existsSync(wanted))
        throw new Fault('invalid_request', `${version}: there is no such file`);
      printResult(false, null, await upgrade(readSettings(), process.cwd(), { wanted, stop, start, dryRun }));
    });
}

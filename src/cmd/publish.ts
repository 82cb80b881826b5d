import { Command } from 'commander';
import {
  compareTrees,
  planTrees,
  publishLines,
  publishReporter,
  publishWithProgress,
  treeName,
} from '../operate/publish/publish-run.ts';
import { withExistingData } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { openBucket, publishAddress } from '../shared/storage/publish-target.ts';
import { printResult } from '../shared/terminal/output.ts';
import { progressTo } from '../shared/terminal/progress.ts';
import { givenAddress } from '../shared/terminal/project-folder.ts';

type Options = { to?: string; paper?: string; dryRun?: boolean; check?: boolean; repair?: boolean; json?: boolean };

export function command(): Command {
  return new Command('publish')
    .description('send what changed in the pressed papers and the log to object storage or a folder')
    .option('--to <address>', 's3://BUCKET/PREFIX or a folder; by default PUBLISH_URL')
    .option('--paper <slug>', 'only this paper, without the log')
    .option('--dry-run', 'print what would be sent and removed, and change nothing')
    .option('--check', 'compare every object with the pressed files, and change nothing')
    .option('--repair', 'compare every object, send what differs, and remove what the papers do not have')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nExit code 0: published, or with --check no differences; 1: otherwise.')
    .action((options: Options) => {
      const modes = [options.dryRun, options.check, options.repair].filter((mode) => mode === true);
      if (modes.length > 1) {
        throw new Fault('invalid_request', '--dry-run, --check and --repair cannot be combined; give one of them');
      }
      return withExistingData(readSettings(), async (app) => {
        if (options.dryRun !== true && options.check !== true) {
          const reports = await publishWithProgress(app, options);
          printResult(options.json, Object.fromEntries(reports), publishLines(reports));
          return;
        }
        const address = publishAddress(app.settings, options.to === undefined ? undefined : givenAddress(options.to));
        const bucket = openBucket(app.settings, address);
        const progress = progressTo();
        const more = {
          paper: options.paper,
          ...publishReporter((tree, ...at) => progress.step(`compare ${tree}`, ...at)),
        };
        if (options.dryRun === true) {
          const plans = await planTrees(app, address, bucket, more).finally(progress.end);
          const lines = [...plans].flatMap(([tree, plan]) =>
            plan.map(({ path, what }) => `${what === 'stray' ? 'remove' : 'send'} ${tree}/${path}`),
          );
          const all = lines.length === 0 ? ['nothing left to publish'] : lines;
          printResult(options.json, Object.fromEntries(plans), all);
          return;
        }
        const found = await compareTrees(app, address, bucket, more).finally(progress.end);
        const lines = [...found].flatMap(([tree, { differences, files }]) => [
          ...differences.map(({ path, what }) => `${tree}/${path}: ${what}`),
          `${treeName(tree)}: ${plural(files, 'file')} compared, ${plural(differences.length, 'difference')}`,
        ]);
        printResult(options.json, Object.fromEntries(found), lines);
        if ([...found.values()].some(({ differences }) => differences.length > 0)) process.exitCode = 1;
      });
    });
}

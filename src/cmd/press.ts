import { Command } from 'commander';
import { withAppContext } from '../app/context.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { readSettings } from '../env.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('press')
    .description('press the files that are out of date, or every file')
    .option('--paper <slug>', 'only this paper')
    .option('--full', 'press every file, and remove files that belong to no page')
    .option('--no-cards', 'leave the share cards to a later press')
    .option('--json', 'print the outcome as JSON')
    .action(({ json, ...options }: { paper?: string; full?: boolean; cards: boolean; json?: boolean }) =>
      withAppContext(readSettings(), async (app) => {
        const reports = await pressWithProgress(app, options);
        printResult(json, Object.fromEntries(reports), pressLines(reports));
      }),
    );
}

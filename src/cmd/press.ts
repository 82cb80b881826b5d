import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { pressPapers } from '../app/press-run.ts';
import { counted } from '../counted.ts';
import type { PressReport } from '../press/press.ts';
import { progressTo } from './progress.ts';
import { say, withAppContext } from './run.ts';

interface Options {
  paper?: string;
  full?: boolean;
  cards?: boolean;
  json?: boolean;
}

export function command(): Command {
  return new Command('press')
    .description('press what is due, or everything')
    .option('--paper <slug>', 'only this paper')
    .option('--full', 'every file, due or not; files that nothing prints are removed')
    .option('--no-cards', 'leave the share cards to a later press')
    .option('--json', 'print the outcome as JSON')
    .action((options: Options) =>
      withAppContext(async (app) => {
        const reports = await pressShowing(app, options);
        say(options.json, Object.fromEntries(reports), pressLines(reports));
      }),
    );
}

/** Presses with progress on the terminal. */
export async function pressShowing(app: AppContext, options: Options): Promise<Map<string, PressReport>> {
  const progress = progressTo();
  try {
    return await pressPapers(app, {
      paper: options.paper,
      full: options.full ?? false,
      cards: options.cards ?? true,
      progress: (paper, ...at) => progress.step(`press ${paper}`, ...at),
    });
  } finally {
    progress.end();
  }
}

/** One line a paper. */
export function pressLines(reports: Map<string, PressReport>): string[] {
  if (reports.size === 0) return ['nothing left to press: the files on disk are up to date'];
  return [...reports].map(
    ([paper, { sheets, written, removed }]) =>
      `pressed ${paper}: ${counted(sheets, 'sheet')}, ${counted(written, 'file')} written, ${removed} removed`,
  );
}

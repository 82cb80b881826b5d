import { Command } from 'commander';
import * as z from 'zod';
import { requirePaper } from '../app/context.ts';
import { airStory } from '../desk/airing.ts';
import { standingRow } from '../desk/story.ts';
import { Fault } from '../fault.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('air')
    .description('put a piece on air, now or at a time')
    .argument('<slug>')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--at <time>', 'when, as in 2026-11-20T06:30:00Z')
    .option('--json', 'print the outcome as JSON')
    .action((slug: string, options: { paper: string; at?: string; json?: boolean }) =>
      withAppContext(async (app) => {
        const at = options.at === undefined ? undefined : Date.parse(options.at);
        if (options.at !== undefined && !z.iso.datetime({ offset: true }).safeParse(options.at).success) {
          throw new Fault('invalid_request', `--at ${options.at} is no time; write it as 2026-11-20T06:30:00Z`);
        }
        requirePaper(app, options.paper);
        const { story, changed } = airStory(app.desk, options.paper, slug, {
          by: 'cli',
          ...(at === undefined ? {} : { at }),
        });
        const reports = await pressShowing(app, { paper: options.paper });
        const row = standingRow(story);
        const { state, published_at, scheduled_at } = row;
        say(options.json, { id: story.id, slug, ...row, changed }, [
          `${slug} is ${state === 'scheduled' ? `scheduled for ${scheduled_at}` : `on air since ${published_at}`}${changed ? '' : ' (it was already)'}`,
          ...pressLines(reports),
        ]);
      }),
    );
}

import { Command } from 'commander';
import * as z from 'zod';
import { requirePaper, withExistingData } from '../app/context.ts';
import { pressThenPrint } from '../app/press-progress.ts';
import { airStory } from '../desk/airing.ts';
import { stateRow } from '../desk/story.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('air')
    .description('put a piece on air, now or at a given time')
    .argument('<slug>', 'the piece')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--at <time>', 'when, as in 2026-11-20T06:30:00Z')
    .option('--json', 'print the outcome as JSON')
    .action((slug: string, options: { paper: string; at?: string; json?: boolean }) =>
      withExistingData(readSettings(), async (app) => {
        const at = options.at === undefined ? undefined : Date.parse(options.at);
        if (options.at !== undefined && !z.iso.datetime({ offset: true }).safeParse(options.at).success) {
          throw new Fault(
            'invalid_request',
            `--at ${JSON.stringify(options.at)} is not a time; write it as 2026-11-20T06:30:00Z`,
          );
        }
        requirePaper(app, options.paper);
        const { story, changed } = airStory(app.desk, options.paper, slug, {
          by: 'cli',
          ...(at === undefined ? {} : { at }),
        });
        const row = stateRow(story);
        const { state, published_at, scheduled_at } = row;
        await pressThenPrint(app, { paper: options.paper }, (pressed) =>
          printResult(options.json, { id: story.id, slug, ...row, changed }, [
            `${slug} is ${state === 'scheduled' ? `scheduled for ${scheduled_at}` : `on air since ${published_at}`}${changed ? '' : ' (unchanged)'}`,
            ...pressed,
          ]),
        );
      }),
    );
}

import { Command } from 'commander';
import { requirePaper, withExistingData } from '../app/context.ts';
import { pressThenPrint } from '../app/press-progress.ts';
import { withdrawStory } from '../desk/airing.ts';
import { stateRow } from '../desk/story.ts';
import { readSettings } from '../env.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('withdraw')
    .description('take a piece off the air; its page becomes a notice with the reason')
    .argument('<slug>', 'the piece')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--reason <text>', 'the reason that readers see')
    .option('--withhold-headline', 'show its headline nowhere any more, for reasons of law or privacy')
    .option('--json', 'print the outcome as JSON')
    .action((slug: string, options: { paper: string; reason: string; withholdHeadline?: boolean; json?: boolean }) =>
      withExistingData(readSettings(), async (app) => {
        requirePaper(app, options.paper);
        const { reason, withholdHeadline = false } = options;
        const story = withdrawStory(app.desk, options.paper, slug, { by: 'cli', reason, withholdHeadline });
        await pressThenPrint(app, { paper: options.paper }, (pressed) =>
          printResult(options.json, { id: story.id, slug, ...stateRow(story) }, [
            `${slug} is ${story.state}${story.headline_withheld ? ', and its headline is withheld' : ''}`,
            ...pressed,
          ]),
        );
      }),
    );
}

import { Command } from 'commander';
import { requirePaper } from '../app/context.ts';
import { withdrawStory } from '../desk/airing.ts';
import { standingRow } from '../desk/story.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('withdraw')
    .description('take a piece off the air; its page becomes a notice with the reason')
    .argument('<slug>')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--reason <text>', 'why; readers see it')
    .option('--json', 'print the outcome as JSON')
    .action((slug: string, options: { paper: string; reason: string; json?: boolean }) =>
      withAppContext(async (app) => {
        requirePaper(app, options.paper);
        const story = withdrawStory(app.desk, options.paper, slug, { by: 'cli', reason: options.reason });
        const reports = await pressShowing(app, { paper: options.paper });
        say(options.json, { id: story.id, slug, ...standingRow(story) }, [
          `${slug} is ${story.state}`,
          ...pressLines(reports),
        ]);
      }),
    );
}

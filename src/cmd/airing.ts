import type { Command } from 'commander';
import * as z from 'zod';
import { airingChange, withdrawalChange } from '../desk/activity.ts';
import { airStory, undoWithdrawal, withdrawStory } from '../desk/airing.ts';
import { recordCommand } from '../desk/papers/record-command.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { stateRow } from '../desk/story.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { deskOf } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function air(): Command {
  return new DataCommand('air')
    .description('put a piece on air, now or at a given time')
    .argument('<slug>', 'the piece')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--at <time>', 'when, as in 2026-11-20T06:30:00Z')
    .option('--json', 'print the outcome as JSON')
    .onData(async (app, slug: string, options: { paper: string; at?: string; json?: boolean }) => {
      const at = options.at === undefined ? undefined : Date.parse(options.at);
      if (options.at !== undefined && !z.iso.datetime({ offset: true }).safeParse(options.at).success) {
        throw new Fault(
          'invalid_request',
          `--at ${JSON.stringify(options.at)} is not a time; write it as 2026-11-20T06:30:00Z`,
        );
      }
      requirePaper(app, options.paper);
      const { story, changed } = app.store.database.transact(() => {
        const aired = airStory(deskOf(app), options.paper, slug, { by: 'cli', ...(at === undefined ? {} : { at }) });
        if (aired.changed) recordCommand(app, options.paper, airingChange(aired.story));
        return aired;
      });
      const row = stateRow(story);
      const { state, published_at, scheduled_at } = row;
      const waits = story.awaits_review ? ', and waits until a person approves it' : '';
      await pressThenPrint(app, { paper: options.paper }, (pressed) =>
        printResult(options.json, { id: story.id, slug, ...row, changed }, [
          `${slug} is ${state === 'scheduled' ? `scheduled for ${scheduled_at}${waits}` : `on air since ${published_at}`}${changed ? '' : ' (unchanged)'}`,
          ...pressed,
        ]),
      );
    });
}

type Withdrawal = { paper: string; reason?: string; withholdHeadline?: boolean; undo?: boolean; json?: boolean };

export function withdraw(): Command {
  return new DataCommand('withdraw')
    .description('take a piece off the air; its page becomes a notice with the reason')
    .argument('<slug>', 'the piece')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--reason <text>', 'the reason that readers see')
    .option('--withhold-headline', 'show its headline nowhere any more, for reasons of law or privacy')
    .option('--undo', 'put it back on air, up to an hour after it was withdrawn')
    .option('--json', 'print the outcome as JSON')
    .onData(async (app, slug: string, { paper, reason, withholdHeadline = false, undo, json }: Withdrawal) => {
      requirePaper(app, paper);
      if ((reason === undefined) === (undo === undefined)) {
        throw new Fault('invalid_request', 'give the reason that readers see with --reason, or --undo a withdrawal');
      }
      const story = app.store.database.transact(() => {
        const changed =
          reason === undefined
            ? undoWithdrawal(deskOf(app), paper, slug, { by: 'cli' })
            : withdrawStory(deskOf(app), paper, slug, { by: 'cli', reason, withholdHeadline });
        recordCommand(app, paper, reason === undefined ? airingChange(changed) : withdrawalChange(changed, reason));
        return changed;
      });
      await pressThenPrint(app, { paper }, (pressed) =>
        printResult(json, { id: story.id, slug, ...stateRow(story) }, [
          `${slug} is ${story.state === 'on_air' ? 'back on air' : story.state}${story.headline_withheld ? ', and its headline is withheld' : ''}`,
          ...pressed,
        ]),
      );
    });
}

import { Command } from 'commander';
import { reviewChange } from '../desk/activity.ts';
import { recordCommand } from '../desk/papers/record-command.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { reviewRow } from '../desk/review.ts';
import { ReviewOrder, reviewStory } from '../desk/reviewing.ts';
import { stateRow } from '../desk/story.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { type AppContext, deskOf } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { shapeProblems } from '../shared/shape.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

/** The most waiting pieces that one call lists. */
const LISTED_MAX = 1_000;

export function command(): Command {
  return new Command('review')
    .description('agents’ pieces that a person has to approve before they go on air')
    .addCommand(list())
    .addCommand(approve())
    .addCommand(requestChanges());
}

function list(): Command {
  return new DataCommand('list')
    .description('list the pieces that wait for review')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the pieces as JSON')
    .onData((app, { paper, json }: { paper: string; json?: boolean }) => {
      requirePaper(app, paper);
      const rows = app.store.desk.pieces.awaitingReview(paper, { limit: LISTED_MAX }).map((row) => {
        const { id, slug, headline, revision } = row;
        return { id, slug, headline, revision, ...stateRow(row), review: reviewRow(row) };
      });
      const lines = rows.map(({ slug, revision, state, scheduled_at, review }) => {
        const when = state === 'scheduled' ? `  scheduled for ${scheduled_at}` : '';
        const asked = review.state === 'waiting' ? '' : `  changes requested by ${review.by}`;
        return `${slug}  revision ${revision}${when}${asked}`;
      });
      printResult(json, rows, lines.length === 0 ? ['nothing waits'] : lines);
    });
}

type Decision = { paper: string; revision: string; by: string; json?: boolean };

/** A command that decides on a piece, with the options of both decisions. */
function decision(name: string): DataCommand {
  return new DataCommand(name)
    .argument('<slug>', 'the piece')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--revision <number>', 'the revision that was reviewed')
    .option('--json', 'print the outcome as JSON');
}

function approve(): Command {
  return decision('approve')
    .description('approve the newest revision of a piece; the approval is signed')
    .requiredOption('--by <name>', 'the approver’s name, as it is signed and shown to readers')
    .option('--role <role>', 'the approver’s role; by default editor')
    .onData((app, slug: string, { role, ...rest }: Decision & { role?: string }) =>
      decide(app, slug, rest, { decision: 'approve', ...(role === undefined ? {} : { role }) }),
    );
}

function requestChanges(): Command {
  return decision('request-changes')
    .description('request changes to the newest revision of a piece')
    .requiredOption('--by <name>', 'who asks')
    .option('--note <text>', 'the changes to make')
    .onData((app, slug: string, { note, ...rest }: Decision & { note?: string }) =>
      decide(app, slug, rest, { decision: 'request_changes', ...(note === undefined ? {} : { note }) }),
    );
}

function decide(app: AppContext, slug: string, given: Decision, order: object): Promise<void> {
  const { paper, revision, by: name, json } = given;
  requirePaper(app, paper);
  const typed = { ...order, name, revision: /^\d{1,9}$/.test(revision) ? Number(revision) : revision };
  const read = ReviewOrder.safeParse(typed);
  if (!read.success) {
    const [problem] = shapeProblems(read.error, typed);
    const option = problem?.field === 'name' ? 'by' : problem?.field;
    throw new Fault('invalid_request', `--${option}: ${problem?.message}`, { field: option });
  }
  const story = app.store.desk.archive(paper).storyBySlug(slug);
  if (story === null)
    throw new Fault('not_found', `the paper ${paper} has no piece with the slug ${JSON.stringify(slug)}`);
  const { name: by = '', ...parsed } = read.data;
  const decided = app.store.database.transact(() => {
    const reviewed = reviewStory(deskOf(app), paper, story, { ...parsed, by: { made_by: 'cli', name: by } });
    recordCommand(app, paper, reviewChange(reviewed, parsed));
    return reviewed;
  });
  const [row, review] = [stateRow(decided), reviewRow(decided)];
  return pressThenPrint(app, { paper }, (pressed) =>
    printResult(json, { id: decided.id, slug, ...row, review }, [
      `revision ${revision} of ${slug}: ${review.state === 'approved' ? 'approved' : 'changes requested'}; it is ${row.state === 'on_air' ? 'on air' : row.state}`,
      ...pressed,
    ]),
  );
}

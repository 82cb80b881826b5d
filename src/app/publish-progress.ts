import { Fault, stackOf } from '../fault.ts';
import { plural } from '../plural.ts';
import type { PublishReport } from '../publish/publish.ts';
import { sizeText } from '../size.ts';
import { printError } from '../terminal/output.ts';
import { progressTo } from '../terminal/progress.ts';
import type { AppContext } from './context.ts';
import { LOG_TREE } from './publish-log-source.ts';
import { publishTrees, staleTrees } from './publish-run.ts';
import { openBucket, publishAddress } from './publish-target.ts';

export interface PublishCommand {
  to?: string | undefined;
  paper?: string | undefined;
  repair?: boolean | undefined;
  /** Only these trees. */
  trees?: ReadonlySet<string>;
}

/** Publishes, and shows the progress on the terminal. */
export async function publishWithProgress(
  app: AppContext,
  command: PublishCommand,
): Promise<Map<string, PublishReport>> {
  const address = publishAddress(app.settings, command.to);
  const progress = progressTo();
  try {
    return await publishTrees(app, address, openBucket(app.settings, address), {
      ...command,
      ...publishReporter((tree, ...at) => progress.step(`publish ${tree}`, ...at)),
    });
  } finally {
    progress.end();
  }
}

/** What a command says while it works or waits. */
export function publishReporter(progress: (tree: string, done: number, total: number, what: string) => void) {
  let told = '';
  return {
    progress,
    waiting: (tree: string, holder: string) => {
      if (told === holder) return;
      told = holder;
      printError(`waiting: another publisher, ${holder}, is at work on ${treeName(tree)}`);
    },
  };
}

/** How messages call a tree. */
export function treeName(tree: string): string {
  return tree === LOG_TREE ? 'the log' : tree;
}

/** A summary with one line per tree. */
export function publishLines(reports: ReadonlyMap<string, PublishReport>): string[] {
  const lines = [...reports]
    .filter(([, { sent, removed }]) => sent + removed > 0)
    .map(
      ([tree, { sent, bytes, removed }]) =>
        `published ${treeName(tree)}: ${plural(sent, 'file')} sent (${sizeText(bytes)}), ${removed} removed`,
    );
  return lines.length > 0 ? lines : ['nothing left to publish'];
}

/**
 * For commands that press: publishes to PUBLISH_URL if it is set. A failure is reported and does not fail the command,
 * because the queue keeps what was not sent.
 */
export async function publishAfterPress(app: AppContext): Promise<void> {
  if (app.settings.publishUrl === null) return;
  try {
    // Nothing is asked about the others, of which there may be a thousand.
    const trees = new Set(staleTrees(app, publishAddress(app.settings, undefined)));
    if (trees.size === 0) return;
    for (const line of publishLines(await publishWithProgress(app, { trees }))) printError(line);
  } catch (error) {
    // What the command was for is done: a defect here does not fail it either.
    const why = error instanceof Fault ? error.message : stackOf(error);
    printError(`not published: ${why}. What was not sent is queued: run broadsheet publish, or leave it to the server`);
  }
}

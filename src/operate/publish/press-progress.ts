import { mediaCopies } from '../../desk/jobs/media-job.ts';
import { type PaperReport, type PressOptions, pressPapers } from '../../desk/jobs/press-run.ts';
import { type MediaLocation, openMediaStore } from '../../desk/media/missing-media.ts';
import type { AppContext } from '../../server/context.ts';
import { messageOf } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { printError } from '../../shared/terminal/output.ts';
import { progressTo } from '../../shared/terminal/progress.ts';

/** Presses, then publishes to PUBLISH_URL if it is set, and shows the progress on the terminal. */
export async function pressWithProgress(app: AppContext, options: Pick<PressOptions, 'paper' | 'full' | 'cards'> = {}) {
  const progress = progressTo();
  const step = (paper: string, done: number, total: number, what: string) =>
    progress.step(`press ${paper}`, done, total, what);
  const reports = await pressPapers(app, { ...options, fetchesMedia: true, progress: step }).finally(progress.end);
  await sendMedia(app);
  if (app.settings.publishUrl !== null) {
    const { publishAfterPress } = await import('./publish-run.ts');
    await publishAfterPress(app);
  }
  return reports;
}

/**
 * Presses what a command has changed (null: nothing). `print` reports what the command did, even when the press fails;
 * its error is then rethrown.
 */
export async function pressThenPrint(
  app: AppContext,
  options: Pick<PressOptions, 'paper'> | null,
  print: (lines: string[], reports: Map<string, PaperReport>) => void,
): Promise<void> {
  let reports: Map<string, PaperReport> | null = null;
  try {
    if (options !== null) reports = await pressWithProgress(app, options);
  } finally {
    print(reports === null ? [] : pressLines(reports), reports ?? new Map());
  }
}

/** Sends filed media to MEDIA_URL. A failure is reported, and left to the server or to the next command. */
async function sendMedia(app: AppContext): Promise<void> {
  // A running server holds leases, and sends by itself.
  if (app.settings.mediaUrl === null || app.store.database.leases.isAnyHeld(app.clock.now())) return;
  try {
    const mediaStore = openMediaStore(app.settings);
    if (mediaStore !== null) await mediaCopies(app, mediaStore).send();
  } catch (error) {
    printError(`media files could not be copied to MEDIA_URL: ${messageOf(error)}`);
  }
}

/** A summary of what was pressed, with one line per paper. */
export function pressLines(reports: Map<string, PaperReport>): string[] {
  if (reports.size === 0) return ['nothing left to press: the files on disk are up to date'];
  return [...reports].flatMap(([paper, { outputs, written, removed, missing }]) => [
    `pressed ${paper}: ${plural(outputs, 'output')}, ${plural(written, 'file')} written, ${removed} removed`,
    ...missing.map((path) => missingLine({ paper, path })),
  ]);
}

/** Names a missing media file, for which readers see a stand-in. */
export function missingLine({ paper, path }: MediaLocation): string {
  return `missing ${paper}/${path}: its bytes are not in DATA_DIR, or damaged, and a stand-in is shown; put them back, or file it again, and press`;
}

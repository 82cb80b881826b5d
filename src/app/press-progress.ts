import { plural } from '../plural.ts';
import type { PressReport } from '../press/press.ts';
import { progressTo } from '../terminal/progress.ts';
import type { AppContext } from './context.ts';
import type { PressOptions } from './press-run.ts';
import { pressPapers } from './press-run.ts';

/** Presses, then publishes to PUBLISH_URL if it is set, and shows the progress on the terminal. */
export async function pressWithProgress(
  app: AppContext,
  options: Pick<PressOptions, 'paper' | 'full' | 'cards'> = {},
): Promise<Map<string, PressReport>> {
  const progress = progressTo();
  const step = (paper: string, done: number, total: number, what: string) =>
    progress.step(`press ${paper}`, done, total, what);
  const reports = await pressPapers(app, { ...options, printsHere: true, progress: step }).finally(progress.end);
  if (app.settings.publishUrl !== null) {
    const { publishAfterPress } = await import('./publish-progress.ts');
    await publishAfterPress(app);
  }
  return reports;
}

/** A summary of what was pressed, with one line per paper. */
export function pressLines(reports: Map<string, PressReport>): string[] {
  if (reports.size === 0) return ['nothing left to press: the files on disk are up to date'];
  return [...reports].map(
    ([paper, { outputs, written, removed }]) =>
      `pressed ${paper}: ${plural(outputs, 'output')}, ${plural(written, 'file')} written, ${removed} removed`,
  );
}

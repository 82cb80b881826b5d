import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SECOND } from '../../proof/time.ts';
import { type AppContext, intakeOf } from '../../server/context.ts';
import { isLocked } from '../../shared/fault.ts';
import { eventLoop } from '../../shared/workers/event-loop.ts';
import { fileContent } from '../ingest/content-folder.ts';
import type { FileProblem } from '../ingest/source-file.ts';
import { withoutFileLine } from '../ingest/story-files.ts';
import type { PressQueue } from './press-queue.ts';

interface Parts {
  app: AppContext;
  presses: PressQueue;
  /** The papers that are still to be filed. */
  backlog: Set<string>;
  logger: Logger;
  /** Called for each problem in a file. */
  onProblem(problem: FileProblem): void;
  /** Called once the folder is filed. */
  onFiled(): void;
}

/** Files the content folder once and presses what changed. Returns a function that stops it. */
export function startFiling({ app, presses, backlog, logger, onProblem, onFiled }: Parts): () => Promise<void> {
  const stop = new AbortController();
  /** Starts over if another process held the write lock for long. What was already filed is then unchanged. */
  const fileAll = async (): ReturnType<typeof fileContent> => {
    for (;;) {
      try {
        return await fileContent(intakeOf(app), [], { signal: stop.signal, filed: (paper) => backlog.delete(paper) });
      } catch (error) {
        if (!isLocked(error) || stop.signal.aborted) throw error;
        await app.store.database.lock.free(Number.POSITIVE_INFINITY);
      }
    }
  };
  const work = async () => {
    // Waits until the clock is right before filing.
    while (app.clock.fault() !== null && !stop.signal.aborted) await pause(SECOND);
    const { filed, problems, without_file: lost } = await fileAll();
    for (const problem of problems) onProblem(problem);
    for (const piece of lost) logger.warn(piece, withoutFileLine(piece));
    logger.info({ filed: filed.length, problems: problems.length }, 'filed content');
    if (stop.signal.aborted) return;
    onFiled();
    // Not awaited: on shutdown, the server waits for its presses elsewhere.
    void Promise.allSettled(app.store.desk.paperSlugs().map((paper) => presses.press(paper))).then((outcomes) => {
      const failed = outcomes.filter(({ status }) => status === 'rejected').length;
      logger.info({ papers: outcomes.length, failed }, 'pressed what was due at the start');
    });
  };
  const filed = eventLoop.began({ job: 'file content' });
  const ended = work()
    .catch((error: unknown) => logger.error({ err: error }, 'content/ could not be filed'))
    .finally(() => {
      filed();
      if (!stop.signal.aborted) backlog.clear();
    });
  return async () => {
    stop.abort();
    await ended;
  };
}

import type { Logger } from 'pino';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { isLocked } from '../../shared/fault.ts';
import { hourly, LOCKED_REST, poll } from '../../shared/workers/poll.ts';
import { dependencies } from '../dependencies.ts';
import { ANSWER_TTL } from '../papers/answers.ts';
import { NEWS_AGE } from '../press/outputs/sitemap.ts';
import type { PressQueue } from './press-queue.ts';
import { airWhatIsDue } from './press-run.ts';

/** How often the server checks for pieces that other processes filed, in ms. */
const POLL_EVERY = 200;
/** How often the news sitemap is pressed again, in ms, because its entries expire with time. */
const NEWS_EVERY = 10 * MINUTE;
/** How long to wait after a failed press before the next attempt, in ms. */
const REST = 10_000;

interface Parts {
  app: AppContext;
  presses: PressQueue;
  /** The papers that are still to be filed. */
  backlog: Set<string>;
  logger: Logger;
}

/**
 * Does what is due: airs scheduled pieces, ends expired places on the front, presses the stale outputs of any process,
 * refreshes the news sitemap. No press delays another paper. Returns a function that stops the job.
 */
export function startAiring({ app, presses, backlog, logger }: Parts): () => Promise<void> {
  const { store } = app;
  let newsAt = app.clock.now() + NEWS_EVERY;
  // When the news sitemaps were last marked as stale. A paper without pieces recent enough for its sitemap at that time
  // has no entry that could expire. Starts at 0, to cover what expired while no server ran.
  let newsStaleAt = 0;
  const dropOld = hourly(app, (now) => store.desk.answers.deleteUntil(now - ANSWER_TTL));
  /** Papers that may have been pressed by another program version or under other settings. Only a press can tell. */
  const unseen = new Set(store.desk.paperSlugs());
  let lastChange = store.desk.manifest.lastChangeOfAll();
  /** Papers that may have stale outputs: all that changed since this job began, until a press finds nothing stale. */
  const changed = new Set(store.desk.removedPapers().map(({ slug }) => slug));
  /** Papers whose press failed, with the time of the next attempt (ms of the monotonic clock). */
  const resting = new Map<string, number>();

  const press = async (paper: string): Promise<void> => {
    try {
      const report = await presses.press(paper);
      unseen.delete(paper);
      if (report !== null) logger.info({ paper, ...report }, 'pressed');
    } catch (error) {
      resting.set(paper, performance.now() + (isLocked(error) ? LOCKED_REST : REST));
      if (!isLocked(error)) logger.error({ paper, err: error }, 'the press failed; it is tried again');
    }
  };
  const check = async (): Promise<number> => {
    const now = app.clock.now();
    airWhatIsDue(app);
    // After the clock was set back, `newsAt` would be too far ahead and the sitemap would not change until then.
    if (now >= newsAt || newsAt - now > NEWS_EVERY) {
      const since = Math.min(newsStaleAt, now) - NEWS_AGE;
      const papers = store.desk
        .paperSlugs()
        .filter((paper) => store.desk.archive(paper).latest({ limit: 1, since }).length > 0);
      store.database.transact(() => {
        for (const paper of papers) store.desk.manifest.markStale(paper, [dependencies.news]);
      });
      // Set only after the write: if it fails, the refresh stays due.
      newsAt = now + NEWS_EVERY;
      newsStaleAt = now;
    }
    dropOld(now);
    const newest = store.desk.manifest.lastChangeOfAll();
    if (newest !== lastChange)
      for (const paper of store.desk.manifest.papersChangedAfter(lastChange)) changed.add(paper);
    lastChange = newest;
    for (const paper of new Set([...unseen, ...changed])) {
      // A paper without a public tree is first pressed when all its content is filed, so that it never shows an empty
      // front.
      if (backlog.has(paper) && !presses.isShown(paper)) continue;
      if (presses.isPressing(paper) || performance.now() < (resting.get(paper) ?? 0)) continue;
      if (!unseen.has(paper) && store.desk.manifest.newestStale(paper) === 0) {
        changed.delete(paper);
        continue;
      }
      resting.delete(paper);
      void press(paper);
    }
    return POLL_EVERY;
  };
  const stop = poll(check, { job: 'clock', logger, failed: 'checking for due pieces failed; it is tried again' });
  return async () => {
    await stop();
    await presses.close();
  };
}

import type { Logger } from 'pino';
import { ANSWER_TTL } from '../../desk/answers.ts';
import { airDue } from '../../desk/append.ts';
import { tags } from '../../desk/tags.ts';
import { MINUTE } from '../../time.ts';
import type { AppContext } from '../context.ts';
import type { PendingFolders } from '../pending-folders.ts';
import type { PressQueue } from '../press-queue.ts';
import { hourly, poll } from './poll.ts';

/** How often the server checks for pieces that another process filed, in ms. */
const POLL_EVERY = 200;
/** How often the news sitemap, which ages, is pressed again, in ms. */
const NEWS_EVERY = 10 * MINUTE;
/** How long a paper whose press failed is left alone, in ms. */
const REST = 10_000;

interface Parts {
  app: AppContext;
  presses: PressQueue;
  /** What is yet to be filed. */
  backlog: PendingFolders;
  logger: Logger;
}

/**
 * What runs by the clock: scheduled airings, what the press owes whoever filed
 * it, and the news sitemap. A long press of one paper keeps no other paper
 * waiting. Returns a function that stops it after the work under way.
 */
export function startClock({ app, presses, backlog, logger }: Parts): () => Promise<void> {
  const { store } = app;
  let newsAt = app.now() + NEWS_EVERY;
  const dropOld = hourly((now) => store.answers.deleteUntil(now - ANSWER_TTL));
  /** Papers that may be of another program or of other settings: only a press can tell. */
  const unseen = new Set(store.paperSlugs());
  /** Papers whose press failed, and when (by the monotonic clock) they are tried again. */
  const resting = new Map<string, number>();

  const press = async (paper: string): Promise<void> => {
    try {
      const report = await presses.press(paper);
      unseen.delete(paper);
      if (report !== null) logger.info({ paper, ...report }, 'pressed');
    } catch (error) {
      resting.set(paper, performance.now() + REST);
      logger.error({ paper, err: error }, 'the press failed; it is tried again');
    }
  };
  /** Has long prose that is due read before the transaction that puts it on air: what cannot be read elsewhere is read there. */
  const readDue = async (now: number): Promise<void> => {
    for (const { paper, piece } of store.scheduled(now)) {
      const prose = store.archive(paper).storyById(piece)?.prose ?? '';
      await app.prosePool.prepare(paper, prose).catch((error: unknown) => {
        logger.warn({ paper, piece, err: error }, 'a piece that is due makes everybody wait');
      });
    }
  };
  const check = async (): Promise<number> => {
    const now = app.now();
    const next = store.nextScheduled();
    if (next !== null && next <= now) {
      await readDue(now);
      store.transact(() => airDue(store, now));
    }
    // A clock that was set back would leave the sitemap as it is for as long.
    if (now >= newsAt || newsAt - now > NEWS_EVERY) {
      newsAt = now + NEWS_EVERY;
      for (const paper of store.paperSlugs()) store.manifest.markStale(paper, [tags.news]);
    }
    dropOld(now);
    for (const paper of new Set([...unseen, ...store.manifest.stalePapers()])) {
      // A paper that nobody has seen yet is pressed when all of it is filed, and not with an empty front before.
      if (backlog.has(paper) && !presses.isShown(paper)) continue;
      if (presses.isPressing(paper) || performance.now() < (resting.get(paper) ?? 0)) continue;
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

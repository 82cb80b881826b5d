import type { Logger } from 'pino';
import { ANSWER_KEPT } from '../desk/answers.ts';
import { airDue } from '../desk/enter.ts';
import { tags } from '../desk/tags.ts';
import type { Presses } from '../works/presses.ts';
import type { Workshop } from '../works/workshop.ts';
import { goRounds, hourly } from './rounds.ts';

/** How often the server looks for what another process filed, in ms. */
const LOOK_EVERY = 200;
/** How often the news sitemap, which ages, is pressed again, in ms. */
const NEWS_EVERY = 10 * 60_000;

/**
 * What runs by the clock: scheduled airings, what the press owes whoever filed
 * it, and the news sitemap. Returns a function that stops it after the work under way.
 */
export function startClock(shop: Workshop, presses: Presses, logger: Logger): () => Promise<void> {
  const { store } = shop;
  let newsAt = shop.now() + NEWS_EVERY;
  const dropOld = hourly((now) => store.answers.forget(now - ANSWER_KEPT));

  const look = async (): Promise<number> => {
    const now = shop.now();
    const next = store.nextScheduled();
    if (next !== null && next <= now) store.transact(() => airDue(store, now));
    if (now >= newsAt) {
      newsAt = now + NEWS_EVERY;
      for (const paper of store.paperSlugs()) store.manifest.owe(paper, [tags.news]);
    }
    dropOld(now);
    for (const paper of store.manifest.owing()) {
      const report = await presses.press(paper);
      if (report !== null) logger.info({ paper, ...report }, 'pressed');
    }
    return LOOK_EVERY;
  };
  return goRounds(look, { logger, failed: 'the press failed; it is tried again' });
}

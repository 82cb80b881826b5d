import type { Logger } from 'pino';
import { ANSWER_KEPT } from '../desk/answers.ts';
import { airDue } from '../desk/enter.ts';
import { tags } from '../desk/tags.ts';
import type { Presses } from '../works/presses.ts';
import type { Workshop } from '../works/workshop.ts';

/** How often the server looks for what another process filed, in ms. */
const LOOK_EVERY = 200;
/** How often the news sitemap, which ages, is pressed again, in ms. */
const NEWS_EVERY = 10 * 60_000;
/** How often answers that nobody will ask for again are dropped, in ms. */
const SWEEP_EVERY = 3_600_000;
/** How long the clock rests after a press that failed, in ms. */
const REST = 10_000;

/**
 * What runs by the clock: scheduled airings, what the press owes whoever filed
 * it, and the news sitemap. Returns a function that stops it after the work under way.
 */
export function startClock(shop: Workshop, presses: Presses, logger: Logger): () => Promise<void> {
  const { store } = shop;
  let stopped = false;
  let newsAt = shop.now() + NEWS_EVERY;
  let sweptAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let work: Promise<void> = Promise.resolve();

  const look = async (): Promise<number> => {
    const now = shop.now();
    try {
      const next = store.nextScheduled();
      if (next !== null && next <= now) store.transact(() => airDue(store, now));
      if (now >= newsAt) {
        newsAt = now + NEWS_EVERY;
        for (const paper of store.paperSlugs()) store.manifest.owe(paper, [tags.news]);
      }
      if (now >= sweptAt + SWEEP_EVERY) {
        sweptAt = now;
        store.answers.forget(now - ANSWER_KEPT);
      }
      for (const paper of store.manifest.owing()) {
        const report = await presses.press(paper);
        if (report !== null) logger.info({ paper, ...report }, 'pressed');
      }
      return LOOK_EVERY;
    } catch (error) {
      logger.error({ err: error }, 'the press failed; it is tried again');
      return REST;
    }
  };
  const tick = (): void => {
    work = look().then((wait) => {
      if (!stopped) timer = setTimeout(tick, wait);
    });
  };
  tick();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await work;
  };
}

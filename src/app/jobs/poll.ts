import type { Logger } from 'pino';
import { HOUR } from '../../time.ts';
import { eventLoop } from '../event-loop.ts';

/** How often a job looks for work, in ms. */
export const POLL_EVERY = 250;
/** How long a job pauses between two batches, in ms: requests are answered meanwhile. */
export const BATCH_PAUSE = 2;
/** How long a job rests after its round failed, in ms. */
const REST = 10_000;
/** How often what is old is dropped, in ms. */
const SWEEP_EVERY = HOUR;

/**
 * Goes the rounds of a job: each one gives how long to rest before the next, in ms.
 * One that throws is logged with these words, and the job rests longer. Returns
 * a function that stops the rounds, after the one under way.
 */
export function poll(
  round: () => number | Promise<number>,
  { job, logger, failed }: { job: string; logger: Logger; failed: string },
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();
  const go = async (): Promise<void> => {
    let rest = REST;
    const ended = eventLoop.began({ job });
    try {
      rest = await round();
    } catch (error) {
      logger.error({ job, err: error }, failed);
    } finally {
      ended();
    }
    if (stopped) return;
    timer = setTimeout(() => {
      underWay = go();
    }, rest);
  };
  underWay = go();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await underWay;
  };
}

/** Drops what is old once an hour, when it is asked; the first time at once. */
export function hourly(sweep: (now: number) => void): (now: number) => void {
  let sweptAt = 0;
  return (now) => {
    if (now < sweptAt + SWEEP_EVERY) return;
    sweptAt = now;
    sweep(now);
  };
}

import type { Logger } from 'pino';
import { HOUR } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { isLocked, messageOf } from '../fault.ts';
import { eventLoop } from './event-loop.ts';

/** How often a job checks for work, in ms. */
export const POLL_EVERY = 250;
/** The pause between two batches of a job, in ms, in which the process answers requests. */
export const BATCH_PAUSE = 2;
/** The pause after a failed round, in ms. */
export const REST = 10_000;
/** The pause while another process holds the write lock of the database, in ms. The server's log reports it. */
export const LOCKED_REST = 1_000;
/** How often old rows are deleted, in ms. */
const SWEEP_EVERY = HOUR;

/**
 * Polls: each round returns the pause before the next, in ms. A round that throws is logged with `failed`, once until
 * another error or a round that works. Returns a function that stops it after the current round.
 */
export function poll(
  round: () => number | Promise<number>,
  { job, logger, failed }: { job: string; logger: Logger; failed: string },
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let reported: string | null = null;
  const go = async (): Promise<void> => {
    let rest = REST;
    const ended = eventLoop.began({ job });
    try {
      rest = await round();
      if (reported !== null) logger.info({ job }, 'the job works again');
      reported = null;
    } catch (error) {
      const message = messageOf(error);
      if (isLocked(error)) rest = LOCKED_REST;
      else {
        if (message !== reported) logger.error({ job, err: error }, failed);
        reported = message;
      }
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

/**
 * Runs a sweep at the first call, then at most once an hour, and again after the clock was set back. A sweep that fails
 * is also repeated only after an hour. None runs while the clock is known to be wrong, when new rows could seem old.
 */
export function hourly(app: Pick<AppContext, 'clock'>, sweep: (now: number) => void): (now: number) => void {
  let sweptAt = Number.NEGATIVE_INFINITY;
  return (now) => {
    if ((now >= sweptAt && now < sweptAt + SWEEP_EVERY) || app.clock.fault() !== null) return;
    sweptAt = now;
    sweep(now);
  };
}

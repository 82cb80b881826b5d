import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { eventLoop } from '../../shared/workers/event-loop.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import type { Prober } from '../probe/prober.ts';
import { type ProbeOutcome, type ScanLease, type ScanQueue, scanBatch } from '../probe/scan-queue.ts';
import { gatheredQueue } from './gathered-queue.ts';
import { localQueue } from './local-queue.ts';

/** The most hostnames per lease. */
const BATCH = 32;
/** How long to wait when nothing is due, in ms. */
const IDLE = 1_000;
/** The pause after a failure, in ms. It doubles with each failure, up to the longest pause. */
export const FIRST_REST = 1_000;
export const LONGEST_REST = MINUTE;

/** Callbacks for the events of a scan. */
interface ScanObserver {
  onOutcomes(outcomes: ProbeOutcome[]): void;
  /** No resolver answers; the scan retries after `rest` ms. */
  onNoResolver(rest: number): void;
  /** The queue failed; the scan retries after `rest` ms. */
  onFailure(error: unknown, rest: number): void;
}

interface ScanOptions {
  /** The most concurrent probes, all held in memory. */
  atOnce: number;
  /** Ends the scan when nothing is due. */
  once?: boolean;
}

export interface Scan {
  /**
   * Resolves when stopped or, with `once`, when nothing is due. Rejects with a permanent failure; with `once`, with
   * any.
   */
  ended: Promise<void>;
  /** Starts no more probes, drops those in progress and releases their leases. */
  stop(): Promise<void>;
}

/**
 * Works through a queue until stopped or, with `once`, until nothing is due. Leases more as soon as there is room, so
 * that slow hosts delay only themselves.
 */
export function startScan(queue: ScanQueue, prober: Prober, observer: ScanObserver, options: ScanOptions): Scan {
  const { atOnce, once = false } = options;
  const size = Math.min(BATCH, atOnce);
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopping = () => signal.aborted;
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  let failure: unknown;
  let room = atOnce;
  let freed: () => void = () => {};
  const release = (count: number): void => {
    room += count;
    freed();
  };
  const end = (): void => {
    stopping.abort();
    // Closing the prober ends pending queries at once.
    prober.close();
    freed();
  };

  let rest = FIRST_REST;
  let mustRest = false;
  const retryLater = (notify: (rest: number) => void): void => {
    // Batches that started together fail together, so notify only once.
    if (!mustRest && !isStopping()) notify(rest);
    mustRest = true;
  };
  const failed = (error: unknown): void => {
    if (!once && !isFinal(error)) return retryLater((ms) => observer.onFailure(error, ms));
    failure ??= error;
    end();
  };
  const work = async (lease: ScanLease): Promise<void> => {
    const ended = eventLoop.began({ job: 'scan', hostnames: lease.hostnames.length });
    try {
      const { outcomes, noResolver } = await scanBatch(queue, prober, lease, { isStopping, release });
      observer.onOutcomes(outcomes);
      if (!noResolver) rest = FIRST_REST;
      else if (once) throw new Fault('unavailable', 'no resolver answers; set RESOLVERS to some that do');
      else retryLater(observer.onNoResolver);
    } catch (error) {
      failed(error);
    } finally {
      ended();
    }
  };

  const batches = new Set<Promise<void>>();
  const leaseAndWork = async (): Promise<void> => {
    while (!isStopping()) {
      if (mustRest) {
        await pause(rest);
        rest = Math.min(rest * 2, LONGEST_REST);
        mustRest = false;
      } else if (room < size) {
        await new Promise<void>((next) => {
          freed = next;
        });
      } else {
        const lease = await queue.lease(size).catch(failed);
        if (lease) {
          room -= lease.hostnames.length;
          const batch = work(lease).finally(() => batches.delete(batch));
          batches.add(batch);
        } else if (lease === null && once) return;
        else if (lease === null) await pause(IDLE);
      }
    }
  };
  const done = leaseAndWork()
    .then(() => Promise.all(batches))
    .then(() => prober.close());
  return {
    ended: done.then(() => {
      if (failure !== undefined) throw failure;
    }),
    stop() {
      end();
      return done;
    },
  };
}

/** Whether the queue refuses this scanner permanently. */
function isFinal(error: unknown): boolean {
  return error instanceof Fault && ['key_invalid', 'key_expired', 'level_too_low'].includes(error.code);
}

/** Probes hostnames as they fall due, beside any other scanners of the database. Returns a function that stops it. */
export function startScanner(app: AppContext, prober: Prober, logger: Logger): () => Promise<void> {
  const queue = gatheredQueue(localQueue(app, `serve:${process.pid}`));
  const scan = startScan(queue, prober, logScan(logger), { atOnce: app.settings.scanAtOnce });
  scan.ended.catch((error: unknown) => logger.error({ err: error }, 'the scanner ended'));
  return scan.stop;
}

/** Returns callbacks that log the events of a scan. */
export function logScan(logger: Logger): Parameters<typeof startScan>[2] {
  /** What was logged about the queue or the resolvers since the last outcome; each is logged once. */
  let reported: string | null = null;
  const tellOnce = (what: string, tell: () => void): void => {
    if (reported !== what) tell();
    reported = what;
  };
  return {
    onOutcomes(outcomes) {
      if (outcomes.length > 0) reported = null;
      for (const one of outcomes) {
        const { hostname, outcome } = one;
        measurements.emit('probe', { outcome });
        if (outcome === 'recorded') logger.debug({ hostname, seq: one.seq, changes: one.changes.length }, 'observed');
        else if (outcome === 'lost') logger.debug({ hostname }, 'another scanner took it; nothing was recorded');
        else logger.error({ hostname, reason: one.message }, 'a probe was refused');
      }
    },
    onNoResolver(rest) {
      measurements.emit('scanPause', { reason: 'no_resolver' });
      tellOnce('', () => logger.error({ rest }, 'no resolver answers, so hostnames wait; check RESOLVERS'));
    },
    onFailure(error, rest) {
      measurements.emit('scanPause', { reason: 'queue_failed' });
      tellOnce(messageOf(error), () => logger.error({ err: error, rest }, 'the queue failed; retrying'));
    },
  };
}

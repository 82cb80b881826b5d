import type { Logger } from 'pino';
import { messageOf } from '../../fault.ts';
import type { Prober } from '../../net/prober.ts';
import type { AppContext } from '../context.ts';
import { localQueue } from '../local-queue.ts';
import { measurements } from '../measurements.ts';
import { startScan } from '../scan-loop.ts';

/**
 * Probes hostnames as they fall due, while the process serves. Returns a function that stops it; hostnames in progress
 * are due again at once. Any number of processes and remote scanners may share one database, because each hostname is
 * leased to only one of them.
 */
export function startScanner(app: AppContext, prober: Prober, logger: Logger): () => Promise<void> {
  const scan = startScan(localQueue(app, `serve:${process.pid}`), prober, logScan(logger));
  scan.ended.catch((error: unknown) => logger.error({ err: error }, 'the scanner ended'));
  return scan.stop;
}

/** Returns callbacks that log the events of a scan. */
export function logScan(logger: Logger): Parameters<typeof startScan>[2] {
  /** What was logged about the queue or the resolvers since the last outcome; each is logged once. */
  let told: string | null = null;
  const tellOnce = (what: string, tell: () => void): void => {
    if (told !== what) tell();
    told = what;
  };
  return {
    onOutcomes(outcomes) {
      if (outcomes.length > 0) told = null;
      for (const one of outcomes) {
        const { hostname, outcome } = one;
        measurements.probe.publish({ outcome });
        if (outcome === 'recorded') logger.debug({ hostname, seq: one.seq, changes: one.changes.length }, 'observed');
        else if (outcome === 'lost') logger.debug({ hostname }, 'another scanner took it; nothing was recorded');
        else logger.error({ hostname, reason: one.message }, 'a probe was refused');
      }
    },
    onNoResolver(rest) {
      measurements.scanPause.publish({ reason: 'no_resolver' });
      tellOnce('', () => logger.error({ rest }, 'no resolver answers, so hostnames wait; check RESOLVERS'));
    },
    onFailure(error, rest) {
      measurements.scanPause.publish({ reason: 'queue_failed' });
      tellOnce(messageOf(error), () => logger.error({ err: error, rest }, 'the queue failed; retrying'));
    },
  };
}

import type { Logger } from 'pino';
import type { Prober } from '../../net/prober.ts';
import type { AppContext } from '../context.ts';
import { localQueue } from '../local-queue.ts';
import { startScan } from '../scan-loop.ts';

/**
 * Looks at hostnames as they fall due, for as long as the process serves.
 * Returns a function that stops it; what was under way is due again at once. Any
 * number of processes may do it over one database, and scanners elsewhere beside
 * them: a hostname is leased to one of them.
 */
export function startScanner(app: AppContext, prober: Prober, logger: Logger): () => Promise<void> {
  const scan = startScan(localQueue(app, `serve:${process.pid}`), prober, logScan(logger));
  scan.ended.catch((error: unknown) => logger.error({ err: error }, 'the scanner ended'));
  return scan.stop;
}

/** Tells a log how a scan goes. */
export function logScan(logger: Logger): Parameters<typeof startScan>[2] {
  return {
    onOutcomes(outcomes) {
      for (const one of outcomes) {
        const { hostname, outcome } = one;
        if (outcome === 'recorded') logger.debug({ hostname, seq: one.seq, changes: one.changes.length }, 'observed');
        else if (outcome === 'lost') logger.debug({ hostname }, 'another scanner took it; nothing was entered');
        else logger.error({ hostname, reason: one.message }, 'a look was refused');
      }
    },
    onNoResolver: (rest) => logger.error({ rest }, 'no resolver answers; hostnames wait. Check RESOLVERS'),
    onFailure: (error, rest) => logger.error({ err: error, rest }, 'the queue failed; it is tried again'),
  };
}

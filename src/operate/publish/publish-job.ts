import type { Logger } from 'pino';
import { MINUTE, SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { messageOf } from '../../shared/fault.ts';
import type { Address } from '../../shared/storage/address.ts';
import type { Bucket } from '../../shared/storage/bucket.ts';
import { openBucket, publishAddress } from '../../shared/storage/publish-target.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { poll } from '../../shared/workers/poll.ts';
import { publishTrees, staleTrees } from './publish-run.ts';

const JOB = 'publish';
/** How often the job checks for something to publish, in ms. */
const CHECK_EVERY = 500;
/** The pause after a failure, in ms: it doubles with each, up to the longest. */
export const REST_FIRST = 5 * SECOND;
export const REST_MAX = 10 * MINUTE;
/** How long releasing the lease may take when this process ends, in ms. */
const END_MAX = 3 * SECOND;

interface Failing {
  /** When the tree is tried again, in ms of the monotonic clock. */
  until: number;
  rest: number;
  message: string;
}

/**
 * Publishes to PUBLISH_URL while the process serves. A failure blocks nothing else: files that were not sent stay
 * queued. Returns a function that stops it.
 */
export function startPublisher(app: AppContext, logger: Logger): () => Promise<void> {
  if (app.settings.publishUrl === null) return async () => {};
  const stopping = new AbortController();
  const ending = new AbortController();
  const failing = new Map<string, Failing>();
  let target: { address: Address; bucket: Bucket } | null = null;
  let waitingFor = '';

  const send = async (tree: string, { address, bucket }: NonNullable<typeof target>): Promise<void> => {
    const start = performance.now();
    try {
      const reports = await publishTrees(app, address, bucket, {
        trees: new Set([tree]),
        signal: stopping.signal,
        waiting(of, holder) {
          if (waitingFor !== holder)
            logger.info({ job: JOB, tree: of, holder }, 'another publisher is at work; waiting');
          waitingFor = holder;
        },
      });
      waitingFor = '';
      failing.delete(tree);
      const report = reports.get(tree);
      if (report !== undefined && report.sent + report.removed > 0) {
        const { sent, removed } = report;
        const ms = performance.now() - start;
        measurements.emit('publication', { outcome: 'published', ms, sent, removed });
        logger.info({ job: JOB, tree, ...report, ms: Math.round(ms) }, 'published');
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      measurements.emit('publication', { outcome: 'failed', ms: performance.now() - start, sent: 0, removed: 0 });
      const before = failing.get(tree);
      const rest = Math.min(REST_MAX, (before?.rest ?? REST_FIRST / 2) * 2);
      const message = messageOf(error);
      failing.set(tree, { until: performance.now() + rest, rest, message });
      if (before?.message !== message) logger.error({ job: JOB, tree, reason: message }, 'not published; retrying');
    }
  };

  const round = async (): Promise<number> => {
    if (target === null) {
      const address = publishAddress(app.settings, undefined);
      target = { address, bucket: openBucket(app.settings, address, ending.signal) };
    }
    for (const tree of staleTrees(app, target.address)) {
      if (stopping.signal.aborted) break;
      if (performance.now() >= (failing.get(tree)?.until ?? 0)) await send(tree, target);
    }
    return CHECK_EVERY;
  };
  const stop = poll(round, { job: JOB, logger, failed: 'nothing can be published; retrying' });
  return async () => {
    stopping.abort();
    const end = setTimeout(() => ending.abort(), END_MAX);
    await stop();
    clearTimeout(end);
  };
}

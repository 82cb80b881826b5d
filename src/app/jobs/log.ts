import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fault, messageOf } from '../../fault.ts';
import type { LogService } from '../../ledger/log/leaf.ts';
import { SECOND } from '../../time.ts';
import type { AppContext } from '../context.ts';
import { signHead } from '../log-head.ts';
import { type LogKey, openLogKey } from '../log-key.ts';
import { ownPolicy } from '../log-policy.ts';
import { publishLog } from '../log-publication.ts';
import { requestLease } from './lease.ts';
import { BATCH_PAUSE, POLL_EVERY, poll } from './poll.ts';

/** The shortest time between two heads of a log, in ms. */
const HEAD_EVERY = SECOND;
/** The pause after the files could not be written, in ms. */
const REST = 10 * SECOND;

/**
 * Signs the heads of a service's log and publishes its files while the process serves. One process for each database
 * does it at a time. Nothing else waits for it. Returns a function that stops it.
 */
export function startLog(app: AppContext, log: LogService, logger: Logger): () => Promise<void> {
  const { store, settings } = app;
  let isStopped = false;
  /** Whether the published files were compared with the database since this process became the one to do it. */
  let isCompared = false;
  const lease = requestLease(store.leases, `log of the ${log}`, app.now, () => {
    isCompared = false;
  });
  const assertClaim = () => {
    if (isStopped || !lease.isHeld()) throw new Fault('unavailable', 'another process publishes this log');
  };
  let opened: LogKey | null = null;
  const openKey = (): LogKey => {
    opened ??= openLogKey(app, log);
    return opened;
  };
  const tellFence = onChange((line) => {
    if (line === null) logger.info({ log }, 'the log is signed again');
    else logger.error({ log, fence: line }, 'nothing is signed');
  });
  const tellDisk = onChange((line) => {
    if (line === null) logger.info({ log }, 'the log is published again');
    else logger.error({ log, reason: line }, 'the log cannot be published; retrying');
  });
  /** Files are not written before this moment of this process. */
  let resting = 0;
  const publication = single(async () => {
    try {
      await publishLog(app, log, openKey(), { isWhole: false, assertClaim });
      if (!isCompared) {
        await publishLog(app, log, openKey(), { isWhole: true, assertClaim });
        isCompared = true;
      }
      tellDisk(null);
    } catch (error) {
      if (isStopped) return;
      tellDisk(messageOf(error));
      resting = performance.now() + REST;
    }
  });

  const round = async (): Promise<number> => {
    if (!lease.isHeld()) return POLL_EVERY;
    const policy = ownPolicy(settings);
    while (signHead(app, log, openKey(), { isMet: policy?.quorum === null }) === 'more') {
      await pause(BATCH_PAUSE);
      if (isStopped || !lease.isHeld()) return POLL_EVERY;
    }
    tellFence(store.log.fence(log));
    if (performance.now() >= resting) publication.start();
    return HEAD_EVERY;
  };
  const stop = poll(round, { job: `the log of the ${log}`, logger, failed: 'signing the log failed; retrying' });
  return async () => {
    isStopped = true;
    await stop();
    await publication.ended();
    lease.release();
  };
}

/** Work that goes on in the background, once at a time. It must not throw. */
function single(work: () => Promise<void>): { start(): void; ended(): Promise<void> } {
  let underWay: Promise<void> | null = null;
  return {
    start() {
      underWay ??= work().finally(() => {
        underWay = null;
      });
    },
    ended: async () => underWay ?? undefined,
  };
}

/** Calls `tell` when the value is not the one before; it begins as null. */
function onChange(tell: (value: string | null) => void): (value: string | null) => void {
  let before: string | null = null;
  return (value) => {
    if (value === before) return;
    before = value;
    tell(value);
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LogService } from '../../proof/log/leaf.ts';
import { SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { caught, Fault, isLocked, messageOf } from '../../shared/fault.ts';
import { logLease } from '../../shared/workers/lease.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { BATCH_PAUSE, POLL_EVERY, poll } from '../../shared/workers/poll.ts';
import { signAnnounced } from './log-head.ts';
import { type LogKey, openLogKey } from './log-key.ts';
import { ownPolicy, publishLog } from './log-publication.ts';
import { openWitnesses } from './open-witnesses.ts';

/** The shortest time between two heads of a log, in ms. */
const HEAD_EVERY = SECOND;
/** The pause after the key could not be read or the files could not be written, in ms. */
const REST = 10 * SECOND;

/**
 * Signs heads, asks witnesses for cosignatures, and publishes the log's files. Signing never waits for the other two.
 * Returns a function that stops it.
 */
export function startLog(app: AppContext, log: LogService, logger: Logger): () => Promise<void> {
  let isStopped = false;
  /** Whether all published files were compared with the database since this process acquired the lease. */
  let isCompared = false;
  const lease = logLease(app, log, () => {
    isCompared = false;
  });
  const mayWrite = () => !isStopped && lease.isHeld();
  const assertHeld = () => {
    if (!mayWrite()) throw new Fault('unavailable', 'another process is publishing this log');
  };
  let opened: ReturnType<typeof open> | null = null;
  const open = () => {
    const key = openLogKey(app, log);
    return { key, policy: ownPolicy(app.settings), witnesses: openWitnesses(app, log, key, logger) };
  };
  const tellFence = onChange((fence) => {
    if (fence === null) logger.info({ log }, 'the log is signed again');
    else logger.error({ log, fence }, 'nothing is signed');
  });
  const tell = (step: 'sign' | 'publish', again: string, failing: string) =>
    onChange((reason) => {
      measurements.emit('logStep', { log, step, isFailing: reason !== null });
      if (reason === null) logger.info({ log }, again);
      else logger.error({ log, reason }, failing);
    });
  const tellFault = tell('sign', 'heads of the log are signed again', 'no head of the log is signed; retrying');
  const tellDisk = tell('publish', 'the log is published again', 'the log cannot be published; retrying');
  /** Files are not written before this moment of the monotonic clock, in ms. */
  let resting = 0;
  let publication: Promise<void> | null = null;
  const publish = async (key: LogKey): Promise<void> => {
    try {
      await publishLog(app, log, key, { isWhole: false, assertHeld });
      if (!isCompared) await publishLog(app, log, key, { isWhole: true, assertHeld });
      isCompared = true;
      tellDisk(null);
    } catch (error) {
      // Nobody awaits this, so it must not throw. If another process holds the lock, the next round retries.
      if (isLocked(error) || caught(Fault, mayWrite) !== true) return;
      tellDisk(messageOf(error));
      resting = performance.now() + REST;
    } finally {
      publication = null;
    }
  };

  const work = async (): Promise<number> => {
    opened ??= open();
    const { key, policy, witnesses } = opened;
    while ((await signAnnounced(app, log, key)) === 'more') {
      await pause(BATCH_PAUSE);
      if (!mayWrite()) return POLL_EVERY;
    }
    tellFence(app.store.database.log.fence(log));
    if (policy !== null) witnesses.ask(policy);
    if (performance.now() >= resting) publication ??= publish(key);
    return HEAD_EVERY;
  };
  const round = async (): Promise<number> => {
    if (!lease.isHeld()) return POLL_EVERY;
    try {
      const rest = await work();
      tellFault(null);
      return rest;
    } catch (error) {
      if (!(error instanceof Fault) || isLocked(error)) throw error;
      tellFault(error.message);
      return REST;
    }
  };
  const stop = poll(round, { job: `the log of the ${log}`, logger, failed: 'signing the log failed; retrying' });
  return async () => {
    isStopped = true;
    await stop();
    await Promise.all([publication, opened?.witnesses.settled()]);
    lease.release();
  };
}

/** Returns a function that calls `tell` whenever the value differs from the last one, initially null. */
function onChange(tell: (value: string | null) => void): (value: string | null) => void {
  let before: string | null = null;
  return (value) => {
    if (value === before) return;
    before = value;
    tell(value);
  };
}

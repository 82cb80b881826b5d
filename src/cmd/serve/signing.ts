import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import type { ServerLog } from '../../server/server-log.ts';
import { messageOf } from '../../shared/fault.ts';
import { signLastHeads } from '../../signing/log/log-head.ts';
import { openSignerLease } from '../../signing/signer.ts';
import type { StartsJobs } from './jobs.ts';

/** How long the start waits for the lease, in ms, before this server serves without it. */
const LEASE_WAIT = 2 * SECOND;

/** Whether this server signs, alone or by the lease of LEASE_URL. */
export interface Signing {
  /** Starts a job as soon as this server may sign. Without the lease, requests are served all the same. */
  startJob: StartsJobs;
  /** Resolves when this server must stop because it may not sign any more; the log says why. */
  ended: Promise<void>;
  /** Lets another server sign. */
  stop(): Promise<void>;
}

/** Opens the signing key, unless the clock is wrong; in that case `beginClockWatch` opens it later. */
function openWhenRight(app: AppContext): void {
  if (app.clock.fault() === null) app.signer.open();
}

/** Takes the right to sign, and opens the signing key. Resolves when it is held, or after `LEASE_WAIT`. */
export async function openSigning(app: AppContext, logger: ServerLog): Promise<Signing> {
  const { leaseUrl } = app.settings;
  if (leaseUrl === null) {
    openWhenRight(app);
    return { startJob: (start) => start(), ended: new Promise(() => {}), stop: async () => {} };
  }
  const lease = openSignerLease(app, leaseUrl, logger, () => signLastHeads(app));
  app.signer.right = lease;
  // A later takeover must not fail because another process writes at that moment.
  const open = () => app.store.database.lock.patiently(() => openWhenRight(app), Number.POSITIVE_INFINITY);
  const held = lease.acquire().then(open);
  const ended = Promise.withResolvers<void>();
  let isStopping = false;
  const fail = (error: unknown) => {
    if (isStopping) return;
    logger.error({ err: error }, 'this server cannot sign, and stops');
    ended.resolve();
  };
  lease.lost.addEventListener('abort', () => {
    const reason = messageOf(lease.lost.reason);
    logger.error({ reason }, 'another server may sign now: this one stops; start it again to stand by');
    ended.resolve();
  });
  try {
    await Promise.race([held, pause(LEASE_WAIT)]);
  } catch (error) {
    await lease.stop();
    throw error;
  }
  held.catch(fail);
  return {
    startJob(start) {
      let stop: (() => Promise<void>) | null = null;
      let isStopped = false;
      held
        .then(
          () => {
            if (!isStopped) stop = start();
          },
          // `held.catch(fail)` has reported it.
          () => {},
        )
        .catch(fail);
      return async () => {
        isStopped = true;
        await stop?.();
      };
    },
    ended: ended.promise,
    async stop() {
      isStopping = true;
      await lease.stop();
    },
  };
}

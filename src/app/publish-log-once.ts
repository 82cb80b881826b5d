import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fault } from '../fault.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { checkLog } from './check-log.ts';
import type { AppContext } from './context.ts';
import { logLease } from './jobs/log.ts';
import { BATCH_PAUSE } from './jobs/poll.ts';
import { assertNotFenced } from './log-fence.ts';
import { signHead } from './log-head.ts';
import { openLogKey } from './log-key.ts';
import { ownPolicy } from './log-policy.ts';
import { publishLog } from './log-publication.ts';
import { openWitnesses } from './open-witnesses.ts';

/**
 * Signs a head over what a log has, asks its witnesses once, and publishes its files: for commands that leave a tree
 * for a CDN. Does nothing while a server runs, which does this continuously. Throws `unavailable` when the log must not
 * be signed or cannot be written.
 */
export async function publishLogOnce(app: AppContext, log: LogService, logger: Logger): Promise<void> {
  // The server that holds the lease does it.
  if (app.settings.leaseUrl !== null) return;
  const lease = logLease(app, log, () => {});
  if (!lease.isHeld()) return;
  try {
    const key = openLogKey(app, log);
    const policy = ownPolicy(app.settings);
    const witnesses = openWitnesses(app, log, key, logger);
    await checkLog(app, log, logger);
    while (signHead(app, log, key) === 'more') await pause(BATCH_PAUSE);
    assertNotFenced(app.store.log, log);
    if (policy !== null) witnesses.ask(policy);
    await witnesses.settled();
    const assertClaim = () => {
      if (!lease.isHeld()) throw new Fault('unavailable', 'another process publishes this log now');
    };
    await publishLog(app, log, key, { isWhole: true, assertClaim });
  } finally {
    lease.release();
  }
}

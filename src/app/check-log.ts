import type { Logger } from 'pino';
import type { LogService } from '../ledger/log/leaf.ts';
import type { AppContext } from './context.ts';
import { checkFence, WITNESSES_WAIT } from './log-fence.ts';
import { ownPolicy } from './log-policy.ts';
import { openWitnesses } from './open-witnesses.ts';

/** Checks with the witnesses whether this copy of a log may sign, before anything is signed. */
export async function checkLog(app: AppContext, log: LogService, logger: Logger): Promise<void> {
  const policy = ownPolicy(app.settings);
  await checkFence(app, log, async (key) =>
    policy === null ? null : openWitnesses(app, log, key, logger, { deadline: WITNESSES_WAIT }).check(policy),
  );
}

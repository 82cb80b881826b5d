import type { Logger } from 'pino';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { poll } from '../../shared/workers/poll.ts';
import { createChain, createCheckout } from '../checkout.ts';
import { finishPlanOrders } from '../plans.ts';

/**
 * Finishes orders whose payment arrived but was never recorded, for example because the process was killed. Returns a
 * function that stops it.
 */
export function startPlanOrders(app: AppContext, logger: Logger): () => Promise<void> {
  const [chain, checkout] = [createChain(app.settings), createCheckout(app)];
  // Without a node of the chain no plan is sold.
  if (chain === null || checkout === null) return async () => {};
  let after = '';
  const round = async (): Promise<number> => {
    const { finished, next } = await finishPlanOrders(app, { checkout, chain }, after);
    after = next;
    if (finished > 0) logger.info({ job: 'plan-orders', finished }, 'finished orders of paid plans');
    return MINUTE;
  };
  return poll(round, { job: 'plan-orders', logger, failed: 'orders of plans could not be finished; they will be' });
}

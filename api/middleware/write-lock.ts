import type { MiddlewareHandler } from 'hono';
import type { AppContext } from '../../src/app/context.ts';
import type { DeskEnv } from '../env.ts';
import { isChange } from './standby.ts';

/**
 * Has changes wait while another process writes to the database for long, before anything of them is done. It looks
 * itself: most handlers cannot do what they have begun again.
 */
export function awaitWriteLock({ store }: Pick<AppContext, 'store'>): MiddlewareHandler<DeskEnv> {
  return (c, next) => (isChange(c) && store.lock.isHeldNow() ? store.lock.free().then(next) : next());
}

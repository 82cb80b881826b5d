import type { MiddlewareHandler } from 'hono';
import type { AppContext } from '../../src/app/context.ts';
import type { DeskEnv } from '../env.ts';
import { isChange } from './standby.ts';

/** Has changes wait while another process writes to the database for long, before anything of them is done. */
export function awaitWriteLock({ store }: Pick<AppContext, 'store'>): MiddlewareHandler<DeskEnv> {
  return (c, next) => (store.lock.isHeld && isChange(c) ? store.lock.free().then(next) : next());
}

import type { MiddlewareHandler } from 'hono';
import type { AppContext } from '../../src/app/context.ts';
import type { DeskEnv } from '../env.ts';
import { isChange } from './standby.ts';

/**
 * Delays changes, before they begin, while another process holds the write lock for long. It checks by itself, because
 * most handlers cannot be restarted.
 */
export function awaitWriteLock({ store }: Pick<AppContext, 'store'>): MiddlewareHandler<DeskEnv> {
  return (c, next) => (isChange(c) && store.lock.isHeldNow() ? store.lock.free().then(next) : next());
}

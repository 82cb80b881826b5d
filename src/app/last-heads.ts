import { LOG_SERVICES } from '../desk/log-leaves.ts';
import type { AppContext } from './context.ts';
import { signAnnounced } from './log-head.ts';
import { openLogKey } from './log-key.ts';

/** Signs heads over all that was answered, so that no other server takes over without it. */
export async function signLastHeads(app: AppContext): Promise<void> {
  for (const log of LOG_SERVICES) {
    if (!app.settings.services[log] || app.store.log.size(log) === 0) continue;
    const key = openLogKey(app, log);
    while ((await signAnnounced(app, log, key)) === 'more');
  }
}

import type { AppContext } from '../../src/server/context.ts';
import { markProofsStale } from '../../src/signing/log/open-witnesses.ts';
import { LogHeads } from './log-heads.ts';

/** Signs and cosigns a head over all leaves of the desk's log, unless a head covers them already. */
export function cosignAll({ store }: Pick<AppContext, 'store'>): void {
  store.database.transact(() => {
    const {
      database: { log },
    } = store;
    const heads = new LogHeads(log, 'desk');
    const start = log.cosignedSize('desk');
    const end = log.size('desk');
    if (end === start) return;
    heads.cosign(heads.sign());
    markProofsStale(store, 'desk', { start, end });
  });
}

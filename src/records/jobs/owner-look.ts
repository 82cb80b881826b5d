import { setTimeout as sleep } from 'node:timers/promises';
import { type FullRecord, fullRecordOf } from '../../proof/records/preview.ts';
import type { AppContext } from '../../server/context.ts';
import { Busy, Fault } from '../../shared/fault.ts';
import type { Delta } from '../delta.ts';
import { countLook } from '../owners.ts';
import { proberOf } from '../probe/prober.ts';
import { requireHost } from '../require-host.ts';
import { enrich } from './local-queue.ts';

/** The most concurrent looks in this process. */
const AT_ONCE = 16;
/**
 * How long to wait for the observation of another scanner that leased the hostname, and how often to check for it, in
 * ms.
 */
const OTHERS_WAIT = 30_000;
const OTHERS_POLL = 100;
/** The most changes of one observation to return: it has at most one per signal. */
const CHANGES = 100;

interface Look {
  record: FullRecord;
  /** The changes that the observation showed. */
  changes: Delta[];
  /** How many looks at the hostname are left on this UTC day. */
  left: number;
}

/**
 * Observes a hostname at once for a proven owner, due or not. Owners who ask at the same time share the observation,
 * and it counts for each of them. A failed one does not count. Throws as `countLook`, and `unavailable`.
 */
export function lookAtOnce(app: AppContext, proberFor = proberOf) {
  const { records } = app.store;
  const underWay = new Map<string, Promise<FullRecord>>();

  const observe = async (hostname: string): Promise<FullRecord> => {
    const before = requireHost(records, hostname).seq ?? 0;
    const prober = proberFor(app.settings, app.clock.now);
    try {
      for await (const found of enrich(app, [hostname], prober, 'owner')) {
        if (!('error' in found)) return found;
        // Another scanner has leased the hostname; its observation will do as well.
        for (let waited = 0; found.error === 'conflict' && waited < OTHERS_WAIT; waited += OTHERS_POLL) {
          const newest = records.observation(requireHost(records, hostname).id);
          if (newest !== null && newest.seq > before) return fullRecordOf(newest);
          await sleep(OTHERS_POLL);
        }
        throw found.error === 'unavailable' ? new Busy(found.message) : new Fault('conflict', found.message);
      }
      throw new Busy('nothing was observed; try again');
    } finally {
      prober.close();
    }
  };

  return async (account: string, text: string): Promise<Look> => {
    const { hostname, day, left } = countLook(app, account, text);
    try {
      let look = underWay.get(hostname);
      if (look === undefined) {
        if (underWay.size >= AT_ONCE)
          throw new Busy(`this server is already observing ${AT_ONCE} hostnames for owners; try again soon`);
        look = observe(hostname).finally(() => underWay.delete(hostname));
        underWay.set(hostname, look);
      }
      const record = await look;
      const { id } = requireHost(records, hostname);
      const changes = records.deltas({ host: id }, { limit: CHANGES });
      return { record, changes: changes.filter(({ observation_seq }) => observation_seq === record.seq), left };
    } catch (error) {
      records.owners.giveBack('look', hostname, day);
      throw error;
    }
  };
}

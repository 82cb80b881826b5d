import { randomBytes } from 'node:crypto';
import { Fault } from '../fault.ts';
import { lineOf } from '../records/change-line.ts';
import { recordProbe } from '../records/recording.ts';
import type { Entered, Leased, ScanQueue } from '../records/scan-queue.ts';
import type { Probe } from '../records/signal.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** For how long a lease holds, in ms: many times what a batch takes, even of names that nobody answers for. */
export const LEASE = 120_000;

/** The queue of this machine's database. */
export interface LocalQueue extends ScanQueue {
  /** These hostnames, due or not; null when none of them is watched. */
  leaseThese(names: string[]): Leased | null;
  /** A lease of hostnames that are due, perhaps of none, and when it ends, in ms. */
  leaseUntil(max: number): Leased & { until: number };
}

/** `owner` is who leases, for whoever reads the queue. */
export function localQueue(app: AppContext, owner: string): LocalQueue {
  const { store, now } = app;
  const { records } = store;
  const fresh = () => ({ id: newId(), owner, until: now() + LEASE });
  const leased = ({ id }: { id: string }, rows: { hostname: string }[]): Leased => ({
    lease: id,
    hostnames: rows.map(({ hostname }) => hostname),
  });
  const leaseUntil: LocalQueue['leaseUntil'] = (max) => {
    const wish = fresh();
    records.pullForward(now(), now() + 2 * Math.max(LEASE, app.settings.scanEvery));
    // Asking first costs no other writer a wait.
    const rows = records.isDue(now()) ? records.lease({ ...wish, max, now: now() }) : [];
    return { ...leased(wish, rows), until: wish.until };
  };
  return {
    leaseUntil,
    async lease(max) {
      const { lease, hostnames } = leaseUntil(max);
      return hostnames.length === 0 ? null : { lease, hostnames };
    },
    leaseThese(names) {
      const wish = fresh();
      const rows = records.leaseThese({ ...wish, names });
      return rows.length === 0 ? null : leased(wish, rows);
    },
    enter: (id, looks) => Promise.all(looks.map((look) => enterLook(app, id, look))),
    async release(id) {
      records.giveBack(id, now());
    },
  };
}

/** Enters a look; one that cannot be entered keeps the others from nothing. Throws what the database is at fault for. */
async function enterLook(app: AppContext, lease: string, look: Probe): Promise<Entered> {
  try {
    return await app.store.groupCommit(() => enterOne(app, lease, look));
  } catch (error) {
    if (error instanceof Fault && error.code === 'unavailable') throw error;
    const message = error instanceof Fault ? error.message : 'this look cannot be signed as it is';
    return { hostname: look.hostname, outcome: 'refused', message };
  }
}

function enterOne({ store, desk, settings, now }: AppContext, lease: string, look: Probe): Entered {
  const tools = { ...desk.signingKey, now: now(), every: settings.scanEvery, randomBytes };
  const recorded = recordProbe(store.records, lease, look, tools);
  const { hostname } = look;
  if (recorded.outcome === 'lost') return { hostname, outcome: 'lost' };
  return { hostname, outcome: 'recorded', seq: recorded.seq, changes: recorded.deltas.map(lineOf) };
}

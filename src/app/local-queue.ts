import { randomBytes } from 'node:crypto';
import { Fault } from '../fault.ts';
import { recordProbe } from '../records/recording.ts';
import type { ProbeOutcome, ScanLease, ScanQueue } from '../records/scan-queue.ts';
import type { Probe } from '../records/signal.ts';
import { changeLine } from '../records/wire-rows.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** How long a lease lasts, in ms: many times the duration of a batch, even if no hostname in it answers. */
export const LEASE_TIME = 120_000;

/** The queue in this machine's database. */
export interface LocalQueue extends ScanQueue {
  /** Leases the given hostnames, due or not. Returns null when none of them is watched. */
  leaseNames(names: string[]): ScanLease | null;
  /** Leases up to `max` due hostnames, possibly none. `until` is when the lease ends, in ms. */
  leaseUntil(max: number): ScanLease & { until: number };
}

/** `owner` names the lease holder, for operators. */
export function localQueue(app: AppContext, owner: string): LocalQueue {
  const { store, now } = app;
  const { records } = store;
  const fresh = () => ({ id: newId(), owner, until: now() + LEASE_TIME });
  const leased = ({ id }: { id: string }, rows: { hostname: string }[]): ScanLease => ({
    lease: id,
    hostnames: rows.map(({ hostname }) => hostname),
  });
  const leaseUntil: LocalQueue['leaseUntil'] = (max) => {
    const wish = fresh();
    // A wrong clock pauses the scan.
    if (app.clock.fault() !== null) return { ...leased(wish, []), until: wish.until };
    records.pullForward(now(), now() + 2 * Math.max(LEASE_TIME, app.settings.scanEvery));
    // Checking first avoids the write lock when nothing is due.
    const rows = records.isDue(now()) ? records.lease({ ...wish, max, now: now() }) : [];
    return { ...leased(wish, rows), until: wish.until };
  };
  return {
    leaseUntil,
    async lease(max) {
      const { lease, hostnames } = leaseUntil(max);
      return hostnames.length === 0 ? null : { lease, hostnames };
    },
    leaseNames(names) {
      const wish = fresh();
      const rows = records.leaseNames({ ...wish, names });
      return rows.length === 0 ? null : leased(wish, rows);
    },
    submit: (id, probes) => Promise.all(probes.map((probe) => submitProbe(app, id, probe))),
    async release(id) {
      records.release(id, now());
    },
  };
}

/** Submits one probe. A refused probe does not stop the others. Throws when the database fails. */
async function submitProbe(app: AppContext, lease: string, probe: Probe): Promise<ProbeOutcome> {
  try {
    return await app.store.groupCommit(() => recordUnderLease(app, lease, probe), LEASE_TIME);
  } catch (error) {
    if (error instanceof Fault && error.code === 'unavailable') throw error;
    const message = error instanceof Fault ? error.message : 'this probe cannot be signed';
    return { hostname: probe.hostname, outcome: 'refused', message };
  }
}

function recordUnderLease({ store, signingKey, settings, now }: AppContext, lease: string, probe: Probe): ProbeOutcome {
  const options = { ...signingKey('records'), now: now(), every: settings.scanEvery, randomBytes };
  const recorded = recordProbe(store.records, lease, probe, options);
  const { hostname } = probe;
  if (recorded.outcome === 'lost') return { hostname, outcome: 'lost' };
  return { hostname, outcome: 'recorded', seq: recorded.seq, changes: recorded.deltas.map(changeLine) };
}

import { randomBytes } from 'node:crypto';
import { type FullRecord, fullRecordOf } from '../../proof/records/preview.ts';
import type { Probe } from '../../proof/records/signal.ts';
import type { AppContext } from '../../server/context.ts';
import { Busy, Fault } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import { parseHostname } from '../hostname.ts';
import { requireOwn } from '../nodes.ts';
import { originsOf } from '../origins.ts';
import type { Prober } from '../probe/prober.ts';
import {
  areResolversDown,
  gotNoAnswer,
  type ProbeOutcome,
  type ScanLease,
  type ScanQueue,
} from '../probe/scan-queue.ts';
import { recordProbe } from '../recording.ts';
import { requireHost } from '../require-host.ts';
import { changeLine } from '../wire-rows.ts';

/** How long a lease lasts, in ms: many times the duration of a batch, even if no hostname in it answers. */
export const LEASE_TIME = 120_000;

export type LocalQueue = ReturnType<typeof localQueue>;

/**
 * The queue in this machine's database. `owner` names the lease holder, for operators. Throws `invalid_request` for the
 * table of origins.
 */
export function localQueue(app: AppContext, owner: string) {
  const { store, clock } = app;
  const { records } = store;
  const record = recorder(app);
  const fresh = () => ({ id: newId(), owner, until: clock.now() + LEASE_TIME });
  const leased = ({ id, until }: { id: string; until: number }, rows: { hostname: string }[]) => ({
    lease: id,
    hostnames: rows.map(({ hostname }) => hostname),
    until,
  });
  const isAnyDue = (): boolean => {
    // The scan pauses while the clock is wrong, and until the archive's manifest was read.
    if (app.clock.fault() !== null || !app.signer.knowsArchive) return false;
    records.pullForward(clock.now(), clock.now() + 2 * Math.max(LEASE_TIME, app.settings.scanEvery));
    return records.isDue(clock.now());
  };
  /** Leases up to `max` due hostnames, possibly none. `until` is when the lease ends, in ms. */
  const leaseUntil = (max: number) => {
    const wish = fresh();
    return leased(wish, isAnyDue() ? records.lease({ ...wish, max, now: clock.now() }) : []);
  };
  const queue: ScanQueue = {
    async lease(max) {
      // Checking first avoids the write lock when nothing is due.
      if (!isAnyDue()) return null;
      const lease = await store.database.groupCommit(() => leaseUntil(max));
      return lease.hostnames.length === 0 ? null : lease;
    },
    submit: (id, probes) => Promise.all(probes.map((probe) => submitProbe(app, () => record(id, probe), probe))),
    async release(id) {
      records.release(id, clock.now());
    },
  };
  return {
    ...queue,
    leaseUntil,
    /** Leases the given hostnames, due or not. Returns null when none of them is watched. */
    leaseNames(names: string[]): ScanLease | null {
      const wish = fresh();
      const rows = records.leaseNames({ ...wish, names });
      return rows.length === 0 ? null : leased(wish, rows);
    },
  };
}

/** Submits one probe. A refused probe does not stop the others. Throws when the database fails. */
async function submitProbe(app: AppContext, record: () => ProbeOutcome, probe: Probe): Promise<ProbeOutcome> {
  try {
    return await app.store.database.groupCommit(record, LEASE_TIME, JSON.stringify(probe).length);
  } catch (error) {
    if (error instanceof Fault && error.code === 'unavailable') throw error;
    const message = error instanceof Fault ? error.message : 'this probe cannot be signed';
    return { hostname: probe.hostname, outcome: 'refused', message };
  }
}

type SigningKey = ReturnType<AppContext['signer']['key']>;

/**
 * Records probes under their leases, in the caller's transactions. Throws `invalid_request` for an unreadable table of
 * origins.
 */
function recorder(app: AppContext): (lease: string, probe: Probe) => ProbeOutcome {
  const { store, signer, clock } = app;
  const originOf = originsOf(app.settings);
  // The key is looked up once per transaction. Looking it up may append the signer's name, which a rollback undoes.
  let found: { transaction: object; key: SigningKey } | null = null;
  const keyInForce = (): SigningKey => {
    signer.assertHeld();
    const transaction = store.database.transaction();
    if (found?.transaction !== transaction) found = { transaction, key: signer.key('records') };
    return found.key;
  };
  const record = (lease: string, probe: Probe): ProbeOutcome => {
    const { hostname } = probe;
    const { settings } = app;
    // The last check, however the hostname came to be watched: the observations of this name are signed by another
    // node.
    if (settings.nodes !== null) requireOwn(app, parseHostname(hostname));
    if (!signer.knowsArchive)
      throw new Busy('observations wait until the manifest of the archive can be read; try again');
    const options = { ...keyInForce(), now: clock.now(), every: settings.scanEvery, randomBytes, originOf };
    const recorded = recordProbe(store.records, lease, probe, options);
    if (recorded.outcome === 'lost') return { hostname, outcome: 'lost' };
    return { hostname, outcome: 'recorded', seq: recorded.seq, changes: recorded.deltas.map(changeLine) };
  };
  return (lease, probe) => {
    try {
      return record(lease, probe);
    } catch (error) {
      found = null;
      throw error;
    }
  };
}

/** The most concurrent probes per request. */
const AT_ONCE = 16;

/** The full record of a probed hostname, or the reason why there is none. */
type Enriched = FullRecord | { domain: string; error: string; message: string };

/** Probes watched hostnames now, due or not, and yields them as they complete, until the consumer stops. */
export async function* enrich(
  app: AppContext,
  names: readonly string[],
  prober: Prober,
  owner: string,
): AsyncGenerator<Enriched> {
  const queue = localQueue(app, owner);
  const left = [...new Set(names)].values();
  const running = new Map<string, Promise<[string, Enriched]>>();
  const begin = (): void => {
    const { value: name } = left.next();
    if (name !== undefined)
      running.set(
        name,
        one(app, queue, prober, name).then((enriched) => [name, enriched]),
      );
  };
  for (let n = 0; n < AT_ONCE; n++) begin();
  while (running.size > 0) {
    const [name, enriched] = await Promise.race(running.values());
    running.delete(name);
    begin();
    yield enriched;
  }
}

async function one(app: AppContext, queue: LocalQueue, prober: Prober, name: string): Promise<Enriched> {
  try {
    return await probeAndRead(app, queue, prober, name);
  } catch (error) {
    const known = app.store.database.fault(error);
    if (!(known instanceof Fault)) throw error;
    const { code, message } = known;
    // The message names a file on this machine, so it goes only to the operator's log.
    return {
      domain: name,
      error: code,
      message: code === 'unavailable' ? 'temporarily unavailable; try again soon' : message,
    };
  }
}

async function probeAndRead(app: AppContext, queue: LocalQueue, prober: Prober, name: string): Promise<Enriched> {
  const { records } = app.store;
  const { hostname, id } = requireHost(records, name);
  const taken = queue.leaseNames([hostname]);
  if (taken === null) {
    throw new Fault('not_watched', `${hostname} is paused; POST /v1/domains puts it under watch again`);
  }
  const probe = await prober.probe(hostname);
  if (gotNoAnswer(probe) && (await areResolversDown(prober))) {
    await queue.release(taken.lease);
    return { domain: hostname, error: 'unavailable', message: 'no resolver answered; nothing was recorded' };
  }
  const [entered] = await queue.submit(taken.lease, [probe]);
  if (entered?.outcome !== 'recorded') {
    const message = `another scanner leased ${hostname} meanwhile; GET /v1/domains/${hostname} returns its observation`;
    return { domain: hostname, error: 'conflict', message: entered?.outcome === 'refused' ? entered.message : message };
  }
  const observation = records.observationBySeq(id, entered.seq);
  if (observation === null) throw new Error(`observation ${entered.seq} of ${hostname} does not exist`);
  return fullRecordOf(observation);
}

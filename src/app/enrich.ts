import { Fault } from '../fault.ts';
import type { Prober } from '../net/prober.ts';
import type { FullRecord } from '../records/preview.ts';
import { fullRecordOf } from '../records/preview.ts';
import { requireHost } from '../records/require-host.ts';
import { areResolversDown, gotNoAnswer } from '../records/scan-queue.ts';
import type { AppContext } from './context.ts';
import type { LocalQueue } from './local-queue.ts';
import { localQueue } from './local-queue.ts';

/** The most concurrent probes per request. */
const AT_ONCE = 16;

/** The full record of a probed hostname, or the reason why there is none. */
export type Enriched = FullRecord | { domain: string; error: string; message: string };

/**
 * Probes watched hostnames immediately, due or not, each one once, and yields them as they complete. Stops when the
 * consumer stops reading.
 */
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
    const known = app.store.fault(error);
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
    const message = `another scanner took ${hostname} meanwhile; GET /v1/domains/${hostname} has what it saw`;
    return { domain: hostname, error: 'conflict', message: entered?.outcome === 'refused' ? entered.message : message };
  }
  const observation = records.observationBySeq(id, entered.seq);
  if (observation === null) throw new Error(`observation ${entered.seq} of ${hostname} does not exist`);
  return fullRecordOf(observation);
}

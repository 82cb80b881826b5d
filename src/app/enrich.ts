import { Fault } from '../fault.ts';
import type { Prober } from '../net/prober.ts';
import type { FullRecord } from '../records/preview.ts';
import { fullRecordOf } from '../records/preview.ts';
import { hostNamed } from '../records/require-host.ts';
import { isBlind, isUnanswered } from '../records/scan-batch.ts';
import type { AppContext } from './context.ts';
import type { LocalQueue } from './local-queue.ts';
import { localQueue } from './local-queue.ts';

/** How many hostnames of one request are looked at at a time. */
const AT_ONCE = 16;

/** One hostname, looked at now: its full record, or why there is none. */
export type Enriched = FullRecord | { domain: string; error: string; message: string };

/** Looks at hostnames under watch now, due or not, each once; what comes first is told first. Stops when nobody reads on. */
export async function* enrich(
  app: AppContext,
  names: readonly string[],
  prober: Prober,
  owner: string,
): AsyncGenerator<Enriched> {
  const queue = localQueue(app, owner);
  const left = [...new Set(names)].values();
  const underWay = new Map<string, Promise<[string, Enriched]>>();
  const begin = (): void => {
    const { value: name } = left.next();
    if (name !== undefined)
      underWay.set(
        name,
        one(app, queue, prober, name).then((enriched) => [name, enriched]),
      );
  };
  for (let n = 0; n < AT_ONCE; n++) begin();
  while (underWay.size > 0) {
    const [name, enriched] = await Promise.race(underWay.values());
    underWay.delete(name);
    begin();
    yield enriched;
  }
}

async function one(app: AppContext, queue: LocalQueue, prober: Prober, name: string): Promise<Enriched> {
  try {
    return await lookAndRead(app, queue, prober, name);
  } catch (error) {
    const known = app.store.fault(error);
    if (!(known instanceof Fault)) throw error;
    const { code, message } = known;
    // The cause names a file of this machine; the log of whoever runs it has it.
    return {
      domain: name,
      error: code,
      message: code === 'unavailable' ? 'this cannot be done just now; try again soon' : message,
    };
  }
}

async function lookAndRead(app: AppContext, queue: LocalQueue, prober: Prober, name: string): Promise<Enriched> {
  const { records } = app.store;
  const { hostname, id } = hostNamed(records, name);
  const taken = queue.leaseThese([hostname]);
  if (taken === null) {
    throw new Fault('not_watched', `${hostname} is paused; POST /v1/domains puts it under watch again`);
  }
  const look = await prober.probe(hostname);
  if (isBlind(look) && (await isUnanswered(prober))) {
    await queue.release(taken.lease);
    return { domain: hostname, error: 'unavailable', message: 'no resolver answered; nothing was entered' };
  }
  const [entered] = await queue.enter(taken.lease, [look]);
  if (entered?.outcome !== 'recorded') {
    const message = `another scanner took ${hostname} meanwhile; GET /v1/domains/${hostname} has what it saw`;
    return { domain: hostname, error: 'conflict', message: entered?.outcome === 'refused' ? entered.message : message };
  }
  const observation = records.observationBySeq(id, entered.seq);
  if (observation === null) throw new Error(`observation ${entered.seq} of ${hostname} is not there`);
  return fullRecordOf(observation);
}

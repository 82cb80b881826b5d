import { Fault } from '../fault.ts';
import { proberOf } from '../net/prober.ts';
import { parseHostname } from '../records/hostname.ts';
import type { ProbeOutcome, ScanQueue } from '../records/scan-queue.ts';
import type { AppContext } from './context.ts';
import { localQueue } from './local-queue.ts';
import { startScan } from './scan-loop.ts';

export interface Scanned {
  /** The number of signed observations. */
  observed: number;
  /** The changes, one line each. */
  changes: string[];
  /** Hostnames that another scanner leased in the meantime. */
  lost: string[];
}

/**
 * Probes the hostnames that are due, or the given ones, and signs the observations. Calls `onProgress` after each
 * batch. Throws `not_found` for a hostname that is not under watch.
 */
export async function scanOnce(
  app: AppContext,
  names: string[],
  onProgress: (observed: number, hostname: string) => void = () => {},
): Promise<Scanned> {
  const wanted = names.map((name) => parseHostname(name).hostname);
  for (const name of wanted) {
    if (app.store.records.find(name)?.state === 'watched') continue;
    throw new Fault(
      'not_found',
      `${name} is not under watch; \`npm run -s broadsheet -- watch ${name}\` puts it under watch`,
    );
  }
  const scanned: Scanned = { observed: 0, changes: [], lost: [] };
  const onOutcomes = (outcomes: ProbeOutcome[]) => {
    for (const one of outcomes) count(one, scanned);
    onProgress(scanned.observed, outcomes.at(-1)?.hostname ?? '');
  };
  app.openSigningKey();
  const prober = proberOf(app.settings, app.now);
  await startScan(queueOf(app, wanted), prober, { onOutcomes, onNoResolver() {}, onFailure() {} }, { once: true })
    .ended;
  return scanned;
}

/** A queue of the hostnames that are due, or of the given ones. */
function queueOf(app: AppContext, names: string[]): ScanQueue {
  const local = localQueue(app, `scan:${process.pid}`);
  if (names.length === 0) return local;
  const left = [...names];
  return { ...local, lease: async (max) => local.leaseNames(left.splice(0, max)) };
}

function count(outcome: ProbeOutcome, scanned: Scanned): void {
  if (outcome.outcome === 'refused') throw new Fault('unavailable', `${outcome.hostname}: ${outcome.message}`);
  if (outcome.outcome === 'lost') {
    scanned.lost.push(outcome.hostname);
    return;
  }
  scanned.observed++;
  scanned.changes.push(...outcome.changes);
}

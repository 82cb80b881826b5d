import type { Logger } from 'pino';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import { parseHostname } from '../hostname.ts';
import { requireOwn } from '../nodes.ts';
import { proberOf } from '../probe/prober.ts';
import { remoteQueue } from '../probe/remote-queue.ts';
import type { ProbeOutcome, ScanQueue } from '../probe/scan-queue.ts';
import { lookAtArchive } from './archive-look.ts';
import { gatheredQueue } from './gathered-queue.ts';
import { localQueue } from './local-queue.ts';
import { logScan, startScan } from './scan-loop.ts';

/**
 * Probes the hostnames that are due, or the given ones. Returns the number of observations, the changes as lines of
 * text, and the hostnames that other scanners have leased. Throws `other_node` and `not_found`.
 */
export async function scanOnce(
  app: AppContext,
  names: string[],
  onProgress: (observed: number, hostname: string) => void = () => {},
) {
  const wanted = names.map((text) => {
    const host = parseHostname(text);
    const name = host.hostname;
    if (app.store.records.find(name)?.state === 'watched') return name;
    requireOwn(app, host);
    throw new Fault('not_found', `${name} is not under watch; \`${CLI} watch ${name}\` puts it under watch`);
  });
  const scanned = { observed: 0, changes: [] as string[], lost: [] as string[] };
  const onOutcomes = (outcomes: ProbeOutcome[]) => {
    for (const one of outcomes) {
      if (one.outcome === 'refused') throw new Fault('unavailable', `${one.hostname}: ${one.message}`);
      if (one.outcome === 'lost') scanned.lost.push(one.hostname);
      else {
        scanned.observed++;
        scanned.changes.push(...one.changes);
      }
    }
    onProgress(scanned.observed, outcomes.at(-1)?.hostname ?? '');
  };
  app.signer.open();
  await lookAtArchive(app);
  const prober = proberOf(app.settings, app.clock.now);
  const options = { atOnce: app.settings.scanAtOnce, once: true };
  await startScan(queueOf(app, wanted), prober, { onOutcomes, onNoResolver() {}, onFailure() {} }, options).ended;
  return scanned;
}

/** A queue of the hostnames that are due, or of the given ones. */
function queueOf(app: AppContext, names: string[]): ScanQueue {
  const local = gatheredQueue(localQueue(app, `scan:${process.pid}`));
  if (names.length === 0) return local;
  const left = [...names];
  return { ...local, lease: async (max) => local.leaseNames(left.splice(0, max)) };
}

interface Options {
  /** Ends the scan when nothing is due. */
  once: boolean;
  /** Ends the scan and releases the hostnames in progress. */
  stop: AbortSignal;
}

/**
 * Probes hostnames for another server, without a database or a key. Returns counts. Throws `key_required`,
 * `invalid_request`, and the faults of that server.
 */
export async function scanElsewhere(settings: Settings, queue: string, logger: Logger, { once, stop }: Options) {
  const { scannerKey: key } = settings;
  if (key === undefined) {
    const message = `SCANNER_KEY is not set; \`${CLI} key create --service records --level scanner --name …\` makes one where the records are`;
    throw new Fault('key_required', message);
  }
  if (!URL.canParse(queue) || !/^https?:$/.test(new URL(queue).protocol)) {
    const message = `--queue ${JSON.stringify(queue)} is not an http or https address; give the address of the domain records`;
    throw new Fault('invalid_request', message);
  }
  const source = remoteQueue({ url: queue.replace(/\/+$/, ''), key, stopping: stop });
  const log = logScan(logger);
  const counts = { observed: 0, changes: 0, lost: 0, refused: 0 };
  const onOutcomes = (outcomes: ProbeOutcome[]) => {
    log.onOutcomes(outcomes);
    for (const one of outcomes) {
      if (one.outcome === 'recorded') counts.changes += one.changes.length;
      counts[one.outcome === 'recorded' ? 'observed' : one.outcome]++;
    }
  };
  const scan = startScan(source, proberOf(settings), { ...log, onOutcomes }, { atOnce: settings.scanAtOnce, once });
  stop.addEventListener('abort', () => void scan.stop());
  await scan.ended;
  return counts;
}

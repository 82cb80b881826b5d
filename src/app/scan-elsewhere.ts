import type { Logger } from 'pino';
import type { Settings } from '../env.ts';
import { Fault } from '../fault.ts';
import { proberOf } from '../net/prober.ts';
import { remoteQueue } from '../net/remote-queue.ts';
import type { ProbeOutcome } from '../records/scan-queue.ts';
import { logScan } from './jobs/scanner.ts';
import { startScan } from './scan-loop.ts';

interface Options {
  /** Ends the scan when nothing is due. */
  once: boolean;
  /** Ends the scan and releases the hostnames in progress. */
  stop: AbortSignal;
}

/**
 * Probes hostnames for the domain records of another server; it needs no database and no signing key. Returns how many
 * observations and changes it reported, and how many probes were lost to other scanners or refused. Throws
 * `key_required`, `invalid_request`, and the faults of the other server.
 */
export async function scanElsewhere(settings: Settings, queue: string, logger: Logger, { once, stop }: Options) {
  const { scannerKey: key } = settings;
  if (key === undefined) {
    throw new Fault(
      'key_required',
      'SCANNER_KEY is not set; `npm run -s broadsheet -- key create --service records --level scanner --name …` makes one where the records are',
    );
  }
  if (!URL.canParse(queue) || !/^https?:$/.test(new URL(queue).protocol)) {
    throw new Fault(
      'invalid_request',
      `--queue ${JSON.stringify(queue)} is not an http or https address; give the address of the domain records`,
    );
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
  const scan = startScan(source, proberOf(settings), { ...log, onOutcomes }, { once });
  stop.addEventListener('abort', () => void scan.stop());
  await scan.ended;
  return counts;
}

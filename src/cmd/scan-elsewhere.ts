import pino from 'pino';
import { scanNewsTo } from '../app/jobs/scanner.ts';
import { startScan } from '../app/scan-run.ts';
import { counted } from '../counted.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { proberOf } from '../net/prober.ts';
import { remoteQueue } from '../net/scan-remote.ts';
import { say } from './run.ts';

/**
 * Scans for domain records elsewhere until SIGTERM or SIGINT, or with `once` until
 * nothing is due. It has no database and no key but the scanner's. Throws
 * `key_required`, and what the doors refuse.
 */
export async function scanElsewhere(
  queue: string,
  { once, json }: { once: boolean; json: boolean | undefined },
): Promise<void> {
  const settings = readSettings();
  const { scannerKey: key } = settings;
  if (key === undefined) {
    throw new Fault(
      'key_required',
      'SCANNER_KEY is not set; `npm run -s broadsheet -- key create --service records --level scanner --name …` makes one where the records are',
    );
  }
  if (!URL.canParse(queue) || !/^https?:$/.test(new URL(queue).protocol)) {
    throw new Fault('invalid_request', `--queue ${queue} is not an http or https address`);
  }
  const stopping = new AbortController();
  const source = remoteQueue({ url: queue.replace(/\/+$/, ''), key, stopping: stopping.signal });
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 2, sync: true }));
  const told = scanNewsTo(logger);
  const counts = { observed: 0, changes: 0, lost: 0, refused: 0 };
  const scan = startScan(
    source,
    proberOf(settings),
    {
      ...told,
      entered(entered) {
        told.entered(entered);
        for (const one of entered) {
          if (one.outcome === 'recorded') counts.changes += one.changes.length;
          counts[one.outcome === 'recorded' ? 'observed' : one.outcome]++;
        }
      },
    },
    { once },
  );
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping.abort();
      void scan.stop();
    });
  }
  await scan.ended;
  say(json, counts, [
    `${counts.observed} observed, ${counted(counts.changes, 'change')}, ${counts.lost} lost to others, ${counts.refused} refused`,
  ]);
}

import { Command } from 'commander';
import { scanElsewhere, scanOnce } from '../records/jobs/scan.ts';
import { withExistingData } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { openCommandLog } from '../server/server-log.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { onStopSignal } from '../shared/terminal/stop-signal.ts';

export function command(): Command {
  return new Command('scan')
    .description('probe hostnames now: those that are due, or these; or scan for domain records elsewhere')
    .argument('[hostname...]', 'hostnames under watch, due or not')
    .option('--queue <url>', 'work the queue of the domain records at this address, with SCANNER_KEY, until SIGTERM')
    .option('--once', 'with --queue: stop when nothing is due')
    .option('--json', 'print the outcome as JSON')
    .action((names: string[], { queue, once = false, json }: { queue?: string; once?: boolean; json?: boolean }) => {
      if (queue === undefined && !once) return scanHere(names, json);
      if (queue !== undefined && names.length === 0) return scanThere(queue, once, json);
      throw new Fault(
        'invalid_request',
        '--once needs --queue, and --queue takes no hostnames: the queue says which are due',
      );
    });
}

function scanHere(names: string[], json: boolean | undefined): Promise<void> {
  return withExistingData(readSettings(), async (app) => {
    const scanned = await withProgress((step) =>
      scanOnce(app, names, (observed, hostname) => step('scan', observed, observed, hostname)),
    );
    printResult(json, scanned, [
      ...scanned.changes,
      ...scanned.lost.map((name) => `${name} was leased by another scanner; nothing was recorded`),
      `${scanned.observed} observed and signed, ${plural(scanned.changes.length, 'change')}`,
    ]);
  });
}

async function scanThere(queue: string, once: boolean, json: boolean | undefined): Promise<void> {
  const settings = readSettings();
  const stopping = new AbortController();
  onStopSignal(() => stopping.abort());
  const logger = openCommandLog(settings.logLevel);
  const counts = await scanElsewhere(settings, queue, logger, { once, stop: stopping.signal });
  printResult(json, counts, [
    `${counts.observed} observed, ${plural(counts.changes, 'change')}, ${counts.lost} lost to other scanners, ${counts.refused} refused`,
  ]);
}

import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { localQueue } from '../app/scan-local.ts';
import { startScan } from '../app/scan-run.ts';
import { counted } from '../counted.ts';
import { Fault } from '../fault.ts';
import { proberOf } from '../net/prober.ts';
import { parseHostname } from '../records/hostname.ts';
import type { Entered, ScanQueue } from '../records/scan-queue.ts';
import { progressTo } from './progress.ts';
import { say, withAppContext } from './run.ts';
import { scanElsewhere } from './scan-elsewhere.ts';

/** What a scan came to. */
interface Scanned {
  /** Observations that were signed. */
  observed: number;
  /** What changed, one line each. */
  changes: string[];
  /** Names whose lease somebody else took meanwhile. */
  lost: string[];
}

interface Options {
  queue?: string;
  once?: boolean;
  json?: boolean;
}

export function command(): Command {
  return new Command('scan')
    .description('look at hostnames now: those that are due, or these; or scan for a service elsewhere')
    .argument('[hostname...]', 'hostnames under watch, due or not')
    .option(
      '--queue <url>',
      'the address of domain records whose queue is worked, with the scanner’s key in SCANNER_KEY, until SIGTERM',
    )
    .option('--once', 'with --queue: end when nothing is due')
    .option('--json', 'print the outcome as JSON')
    .action(async (names: string[], { queue, once = false, json }: Options) => {
      if (queue === undefined && !once) return withAppContext(async (app) => tell(json, await scan(app, names)));
      if (queue === undefined || names.length > 0) {
        throw new Fault(
          'invalid_request',
          '--once goes with --queue, and --queue takes no hostnames: it looks at what is due',
        );
      }
      return scanElsewhere(queue, { once, json });
    });
}

function tell(json: boolean | undefined, scanned: Scanned): void {
  say(json, scanned, [
    ...scanned.changes,
    ...scanned.lost.map((name) => `${name} was taken by another scanner; nothing was entered`),
    `${scanned.observed} observed and signed, ${counted(scanned.changes.length, 'change')}`,
  ]);
}

/** Looks at what is due, or at these names. Throws `not_found` for a name that is not watched. */
async function scan(app: AppContext, names: string[]): Promise<Scanned> {
  const wanted = names.map((name) => parseHostname(name).hostname);
  for (const name of wanted) {
    if (app.store.records.find(name)?.state === 'watched') continue;
    throw new Fault(
      'not_found',
      `${name} is not under watch; \`npm run -s broadsheet -- watch ${name}\` puts it there`,
    );
  }
  const scanned: Scanned = { observed: 0, changes: [], lost: [] };
  const progress = progressTo();
  const entered = (outcomes: Entered[]) => {
    for (const one of outcomes) count(one, scanned);
    progress.step('scan', scanned.observed, scanned.observed, outcomes.at(-1)?.hostname ?? '');
  };
  app.openSigningKey();
  const prober = proberOf(app.settings, app.now);
  const queue = queueOf(app, wanted);
  try {
    await startScan(queue, prober, { entered, blind() {}, failed() {} }, { once: true }).ended;
  } finally {
    progress.end();
  }
  return scanned;
}

/** What is due, or these names and nothing else. */
function queueOf(app: AppContext, names: string[]): ScanQueue {
  const local = localQueue(app, `scan:${process.pid}`);
  if (names.length === 0) return local;
  const left = [...names];
  return { ...local, lease: async (max) => local.leaseThese(left.splice(0, max)) };
}

function count(entered: Entered, scanned: Scanned): void {
  if (entered.outcome === 'refused') throw new Fault('unavailable', `${entered.hostname}: ${entered.message}`);
  if (entered.outcome === 'lost') {
    scanned.lost.push(entered.hostname);
    return;
  }
  scanned.observed++;
  scanned.changes.push(...entered.changes);
}

import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { Fault } from '../fault.ts';
import { parseHostname } from '../records/hostname.ts';
import { lineOf } from '../records/line.ts';
import { recordLook } from '../records/recording.ts';
import { lookerOf } from '../works/looker.ts';
import type { Workshop } from '../works/workshop.ts';
import { newId } from '../works/workshop.ts';
import { progressTo } from './progress.ts';
import { say, withWorkshop } from './run.ts';

/** How many hostnames are looked at at the same time. */
const AT_ONCE = 32;
/** For how long a lease holds, in ms: one batch takes a fraction of it. */
const LEASE = 120_000;

/** What a scan came to. */
interface Scanned {
  /** Observations that were signed. */
  observed: number;
  /** What changed, one line each. */
  changes: string[];
  /** Names whose lease somebody else took meanwhile. */
  lost: string[];
}

export function command(): Command {
  return new Command('scan')
    .description('look at hostnames now: those that are due, or these')
    .argument('[hostname...]', 'hostnames under watch, due or not')
    .option('--json', 'print the outcome as JSON')
    .action((names: string[], options: { json?: boolean }) =>
      withWorkshop(async (shop) => {
        const scanned = await scan(shop, names);
        say(options.json, scanned, [
          ...scanned.changes,
          ...scanned.lost.map((name) => `${name} was taken by another scanner; nothing was entered`),
          `${scanned.observed} observed and signed, ${scanned.changes.length} changes`,
        ]);
      }),
    );
}

/** Looks at what is due, or at these names. Throws `not_found` for a name that is not watched. */
async function scan(shop: Workshop, names: string[]): Promise<Scanned> {
  const wanted = names.map((name) => parseHostname(name).hostname);
  for (const name of wanted) {
    if (shop.store.records.find(name)?.state === 'watched') continue;
    throw new Fault('not_found', `${name} is not under watch; \`broadsheet watch ${name}\` puts it there`);
  }
  const looker = lookerOf(shop.settings, shop.now);
  const scanned: Scanned = { observed: 0, changes: [], lost: [] };
  const progress = progressTo();
  try {
    for (let at = 0; wanted.length === 0 || at < wanted.length; at += AT_ONCE) {
      const batch = takeBatch(shop, wanted.slice(at, at + AT_ONCE));
      if (batch.hostnames.length === 0) break;
      const looks = await Promise.all(batch.hostnames.map((name) => looker.look(name)));
      for (const look of looks) enterLook(shop, batch.lease, look, scanned);
      progress.step('scan', scanned.observed, scanned.observed, batch.hostnames.at(-1) ?? '');
    }
  } finally {
    progress.end();
    looker.close();
  }
  return scanned;
}

/** Leases these names, or some that are due when there are none. */
function takeBatch({ store, now }: Workshop, names: string[]): { lease: string; hostnames: string[] } {
  const lease = { id: newId(), owner: `scan:${process.pid}`, until: now() + LEASE };
  const taken =
    names.length > 0
      ? store.records.leaseThese({ ...lease, names })
      : store.records.lease({ ...lease, max: AT_ONCE, now: now() });
  return { lease: lease.id, hostnames: taken.map(({ hostname }) => hostname) };
}

function enterLook(shop: Workshop, lease: string, look: Parameters<typeof recordLook>[2], scanned: Scanned): void {
  const { store, desk, settings, now } = shop;
  const { signer, kid } = desk.door;
  const recorded = recordLook(store.records, lease, look, {
    signer,
    kid,
    now: now(),
    every: settings.scanEvery,
    randomBytes,
  });
  if (recorded.outcome === 'lost') {
    scanned.lost.push(look.hostname);
    return;
  }
  scanned.observed++;
  for (const delta of recorded.deltas) scanned.changes.push(lineOf(delta));
}

import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { listenRecords } from '../../api/server.ts';
import type { Probe } from '../../src/proof/records/signal.ts';
import { makeServiceKey, type ServiceLevel } from '../../src/records/accounts/service-key.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { ALONE } from '../../src/signing/signer.ts';
import { appContextIn, type Clock, tempFolder } from './app-context.ts';

/** The domain records of a test, served in this process. */
export interface RecordsStand {
  app: AppContext;
  url: string;
  clock: Clock;
  /** A key of a level; for the level `account`, of the account with this address. */
  keyOf(level: ServiceLevel, email?: string): string;
  /** Records probes as a scanner would, each at its own time. */
  enter(...looks: Probe[]): void;
}

interface Scope {
  after(work: () => unknown): void;
}

/** Serves an empty set of domain records on a free port, with a clock that stands still until the test sets it. */
export async function recordsStand(
  t: Scope,
  more: Record<string, string> = {},
  now = Date.UTC(2026, 10, 21, 9),
): Promise<RecordsStand> {
  const clock = { now };
  // Closes the server first, then the database, and removes the folder last.
  const endings: (() => unknown)[] = [];
  const inside = { after: (work: () => unknown) => void endings.unshift(work) };
  t.after(async () => {
    for (const end of endings) await end();
  });
  const app = appContextIn(inside, tempFolder(inside), clock, more);
  // The only server that competes for its lease, if it has one.
  app.signer.right = ALONE;
  app.signer.open();
  const served = await listenRecords(app, pino({ level: 'silent' }));
  inside.after(() => served.close());
  return {
    app,
    url: served.url,
    clock,
    keyOf: (level, email = 'ada@example.org') => keyOf(app, level, email),
    enter: (...looks) => recordProbes(app, clock, looks),
  };
}

function keyOf({ store, clock: { now } }: AppContext, level: ServiceLevel, email: string): string {
  const account =
    level === 'account'
      ? store.records.accounts.ofEmail(email, { id: newId(), plan: 'daily', made_at: now() }).id
      : null;
  const maker = { keys: store.records.serviceKeys, now, newId, random: randomBytes, by: 'cli' };
  return makeServiceKey(maker, { account, level, name: `a test’s ${level}` }).key;
}

/**
 * Creates the signing key if necessary, and records probes through a database handle: the stand's own, or that of
 * another process.
 */
export function recordProbes(
  { store, settings, signer: { key: signingKey, open: openDoor } }: AppContext,
  clock: Clock,
  looks: Probe[],
): void {
  openDoor();
  const { signer, kid } = signingKey('records');
  for (const look of looks) {
    clock.now = Math.max(clock.now, look.at);
    const isWatched = store.records.find(look.hostname)?.state === 'watched';
    if (!isWatched) store.records.watch([parseHostname(look.hostname)], clock.now);
    const lease = { id: newId(), owner: 'test', until: clock.now + 60_000 };
    store.records.leaseNames({ ...lease, names: [look.hostname] });
    const tools = { signer, kid, now: clock.now, every: settings.scanEvery, randomBytes };
    const { outcome } = recordProbe(store.records, lease.id, look, tools);
    if (outcome !== 'recorded') throw new Error(`${look.hostname} was not recorded`);
  }
}

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeServiceKey, type ServiceLevel } from '../../src/records/accounts/service-key.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { certificate, probe } from '../support/probes.ts';
import { CALLERS, type Loaded, load, start } from './load.ts';
import { type Bench, environmentOf, openPaper } from './paper.ts';
import { aSecond, type Figure, median, millis } from './table.ts';

const HOSTS = 200;
const ROUNDS = 5;
/** What a metered read may cost. */
const SHARE = 2 / 3;
/** No request of the benchmark is refused. */
const ENDLESS = String(10 ** 12);

/** Reads of one domain: metered against not metered, and each lane with 32 callers. */
export async function meterPart(bench: Bench): Promise<Figure[]> {
  const folder = join(bench.folder, 'meter');
  mkdirSync(folder);
  const { account, service } = fill(folder);
  const limits = { KEYED_DAILY: ENDLESS, KEYED_PER_MINUTE: ENDLESS, KEYLESS_DAILY: ENDLESS };
  const server = await start(['records'], {
    ...environmentOf(folder),
    ...limits,
    TRUSTED_PROXIES: '127.0.0.1',
  });
  const paths = Array.from({ length: HOSTS }, (_, n) => `/v1/domains/host-${n}.example`);
  const each = strangers();
  const lanes: Record<string, () => Promise<Loaded>> = {
    metered: () => load({ url: server.url, paths, headers: { 'x-service-key': account } }),
    unmetered: () => load({ url: server.url, paths, headers: { 'x-service-key': service } }),
    keyless: () => load({ url: server.url, paths, each }),
  };
  const taken: Record<string, Loaded[]> = { metered: [], unmetered: [], keyless: [] };
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [lane, ask] of Object.entries(lanes)) taken[lane]?.push(await ask());
    }
  } finally {
    await server.stop();
  }
  // The first round warmed.
  const rounds = (lane: string) => (taken[lane] ?? []).slice(1);
  const middle = (lane: string, figure: keyof Loaded) => median(rounds(lane).map((loaded) => loaded[figure]));
  const shares = rounds('metered').map(({ rate }, n) => rate / (rounds('unmetered')[n]?.rate ?? Number.NaN));
  const ratio = median(shares);
  return [
    {
      what: `GET one domain, ${CALLERS} callers, metered : not metered`,
      ours: aSecond(middle('metered', 'rate')),
      other: aSecond(middle('unmetered', 'rate')),
      ratio,
      budget: `≥ ${SHARE.toFixed(2)}`,
      holds: ratio >= SHARE,
    },
    ...Object.keys(lanes).map((lane) => ({
      what: `GET one domain, ${CALLERS} callers, ${lane}: p50, p99`,
      ours: `${aSecond(middle(lane, 'rate'))}, ${millis(middle(lane, 'p50'))}, ${millis(middle(lane, 'p99'))}`,
      other: '',
      ratio: null,
      budget: '',
      holds: null,
    })),
  ];
}

/** Keyless callers of which none comes twice: a second request within 15 seconds would be throttled. */
function strangers(): () => Record<string, string> {
  let n = 0;
  return () => {
    n++;
    return { 'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` };
  };
}

/** Watches hostnames, each with a look, and makes a key of an account and one of a service. */
function fill(folder: string): { account: string; service: string } {
  const app = openPaper(folder);
  const { store, settings } = app;
  const desk = deskOf(app);
  app.signer.open();
  const { signer, kid } = desk.signingKey;
  const now = Date.now();
  const names = Array.from({ length: HOSTS }, (_, n) => `host-${n}.example`);
  store.records.watch(names.map(parseHostname), now);
  const lease = { id: newId(), owner: 'bench', until: now + 60_000 };
  store.records.leaseNames({ ...lease, names });
  store.database.transact(() => {
    for (const name of names) {
      const seen = probe(
        name,
        now,
        { A: ['192.0.2.1'], MX: [`10 mail.${name}`], TXT: ['v=spf1 -all'] },
        certificate('1'),
      );
      recordProbe(store.records, lease.id, seen, { signer, kid, now, every: settings.scanEvery, randomBytes });
    }
  });
  const keys = { account: keyOf(app, 'account'), service: keyOf(app, 'service') };
  app.close();
  return keys;
}

/** Makes a key of a level. */
export function keyOf({ store, clock: { now } }: AppContext, level: ServiceLevel): string {
  const maker = { keys: store.records.serviceKeys, now, newId, random: randomBytes, by: 'cli' };
  const account =
    level === 'account'
      ? store.records.accounts.ofEmail('a@bench.example', { id: newId(), plan: 'daily', made_at: now() }).id
      : null;
  return makeServiceKey(maker, { account, level, name: 'The benchmark' }).key;
}

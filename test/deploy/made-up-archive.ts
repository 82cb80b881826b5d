import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { sha256 } from '../../src/proof/basis.ts';
import { observationText } from '../../src/proof/records/receipt.ts';
import type { Probe } from '../../src/proof/records/signal.ts';
import { DAY, dayOf, HOUR, isoTime } from '../../src/proof/time.ts';
import type { Row } from '../../src/records/archive/local-files.ts';
import type { ArchiveObject } from '../../src/records/archive/manifest.ts';
import { bucketHash, parseHostname, pathOf } from '../../src/records/hostname.ts';
import { ArchiveManifest } from '../../src/records/jobs/archive-manifest.ts';
import { ArchiveObjects } from '../../src/records/jobs/archive-objects.ts';
import { partsOf, recordOf } from '../../src/records/record.ts';
import { busyHost } from '../bench/busy-host.ts';
import { appContextIn, type Scope, tempFolder } from '../support/app-context.ts';
import { folderPlace } from '../support/archive.ts';
import { probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { archiverIn } from './archiver.ts';
import { BATCH, CLOSED, DAYS, FIRST, type ReadArchive } from './signed-archive.ts';

/** Observations that are signed, of as many hostnames: the first numbers. */
const SIGNED = 20;

/**
 * An archive of so many observations as an archiver leaves it when the month is closed. The day files are written by the
 * archiver's own functions, with records that a scanner would sign and receipts of the right form, but a random
 * signature; the archiver, a process of its own, makes the month of them.
 */
export async function madeUpArchive(t: Scope, about: number, tell: (line: string) => void): Promise<ReadArchive> {
  const folder = tempFolder(t);
  const archive = join(folder, 'archive');
  const clock = { now: FIRST };
  const more = { ARCHIVE_URL: archive };
  const app = appContextIn(t, folder, clock, more);
  for (const round of [0, 1]) {
    clock.now = FIRST + round * DAY;
    const probes = Array.from({ length: SIGNED / 2 }, (_, n) =>
      busyHost(`h${n}.signed.example`, round * 20, clock.now),
    );
    recordProbes(app, clock, probes);
  }
  const archiver = archiverIn(t, folder, more);
  await archiver.at(FIRST + 2 * DAY + 2 * HOUR);
  const place = folderPlace(archive);
  const objects = new ArchiveObjects(app, place, () => {});
  const manifest = new ArchiveManifest(app, place, objects, () => {});
  const names = Math.ceil(about / DAYS);
  const added: ArchiveObject[] = [];
  let before = SIGNED;
  for (const [bucket, hosts] of hostsOf(names)) {
    for (let at = 0; at < hosts.length; at += BATCH) {
      const hostnames = hosts.slice(at, at + BATCH).map(({ hostname }) => parseHostname(hostname));
      app.store.database.transact(() => app.store.records.watch(hostnames, clock.now));
    }
    for (let day = 0; day < DAYS; day++) {
      const draft = { kind: 'observations_open' as const, period: dayOf(FIRST + day * DAY), bucket };
      added.push(await objects.put(draft, rowsOf(hosts, day, before + day * names), 1));
      objects.clear();
    }
    before += hosts.length;
    tell(`bucket ${bucket}: ${hosts.length} hostnames`);
  }
  const rows = SIGNED + names * DAYS;
  await manifest.adopt();
  await manifest.commit(manifest.base(), { added });
  const { rss, cpu } = await archiver.at(CLOSED + DAY + HOUR);
  archiver.end();
  tell(`the archiver took ${(cpu / rows).toFixed(2)} ms of processor time a row, and ${rss} MB`);
  return { app, archive, rows, rss };
}

/** A hostname, and the parts of its record on the first day. */
interface Host {
  hostname: string;
  body: string;
  circumstances: string;
}

/** Hosts of each bucket, in the order of an object. */
function* hostsOf(count: number): Generator<[bucket: string, hosts: Host[]]> {
  const names = Array.from({ length: count }, (_, n) => parseHostname(`h${n}.zone${Math.floor(n / 3)}.example`));
  const buckets = Map.groupBy(names, (name) => bucketHash(name.hostname, name.registrable_domain).slice(0, 1));
  for (const [bucket, hosts] of buckets) {
    hosts.sort((a, b) => (pathOf(a.hostname) < pathOf(b.hostname) ? -1 : 1));
    yield [
      bucket,
      hosts.map((host) => {
        const { body, circumstances } = partsOf(recordOf(plainHost(host.hostname), host, FIRST));
        return {
          hostname: host.hostname,
          body: canonicalize(body) ?? '',
          circumstances: JSON.stringify(circumstances),
        };
      }),
    ];
  }
}

/** What a host shows that is looked at for few signals. */
function plainHost(hostname: string): Probe {
  const number = Number(/\d+/.exec(hostname)?.[0]);
  const zone = hostname.replace(/^[^.]+\./, '');
  return probe(hostname, FIRST, {
    A: [`192.0.2.${number % 250}`],
    NS: [`ns1.${zone}`, `ns2.${zone}`],
    SOA: [`ns1.${zone} hostmaster.${zone} 1 7200 3600 1209600 300`],
    MX: [`10 mx1.mail${number % 50}.example`],
    TXT: [`verification=${hostname}`],
  });
}

async function* rowsOf(hosts: readonly Host[], day: number, before: number): AsyncGenerator<Row> {
  const observed_at = FIRST + day * DAY + 6 * HOUR;
  for (const [n, { hostname, body, circumstances }] of hosts.entries()) {
    const seq = before + n + 1;
    const noise = randomBytes(32 + 68 + 32);
    const text = observationText({
      ...{ domain: hostname, seq, observed_at: isoTime(observed_at), prev: null, kid: 'k'.repeat(43) },
      ...{ record_root: `sha256:${noise.subarray(0, 32).toString('hex')}`, record_fields: 26 },
    });
    yield {
      ...{ seq, hostname, observed_at, signed_at: null, circumstances },
      // The serial of the zone.
      body: body.replace(' 1 7200 ', ` ${day + 1} 7200 `),
      receipt: `${text}\n— records.example/door ${noise.subarray(32, 100).toString('base64')}\n`,
      receipt_hash: sha256(text),
      seed: noise.subarray(100),
    };
  }
}

// Observes hostnames once a day, archives each closed day but the last ones, and prints on standard error what that took.
// With `rest` it archives those.
import Database from 'libsql';
import { DAY, HOUR } from '../../src/proof/time.ts';
import { readsOf } from '../../src/records/archive/reads.ts';
import { parseHostname, registrableDomain } from '../../src/records/hostname.ts';
import { Archiver } from '../../src/records/jobs/archiver.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import type { ArchivePlace } from '../../src/shared/storage/archive-place.ts';
import { busyHost, busyNames } from './busy-host.ts';
import { median } from './table.ts';

const [hosts = '2000', days = '34', what] = process.argv.slice(2);
const [HOSTS, DAYS] = [Number(hosts), Number(days)];
/** Days that are observed and left for `rest`. */
const LEFT = 3;
const BATCH = 32;
/** How many records are read, each of another name. */
const READ = 300;

const FIRST = Date.UTC(2026, 9, 1);

let now = what === 'rest' ? FIRST + (DAYS + LEFT + 1) * DAY : FIRST + HOUR;
const app = openAppContext(readSettings(), () => now);
app.signer.open();
app.signer.knowsArchive = true;
const { records } = app.store;
const queue = localQueue(app, 'bench');
const counts = { puts: 0, gets: 0, bytes: 0 };
const archiver = new Archiver(app, counted(app.archive), { assertHeld() {} });

/** The pages in use, in bytes: a file does not shrink, and fills its free pages first. */
function used(): number {
  const db = new Database(databaseFile(app.settings), { readonly: true });
  const number = (name: string): number => Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0] as number;
  const size = (number('page_count') - number('freelist_count')) * number('page_size');
  db.close();
  return size;
}

function counted(place: ArchivePlace | null): ArchivePlace {
  if (place === null) throw new Error('ARCHIVE_URL is not set');
  return {
    ...place,
    put(key, bytes, onlyIf) {
      counts.puts++;
      counts.bytes += bytes instanceof Blob ? bytes.size : bytes.length;
      return place.put(key, bytes, onlyIf);
    },
    get(key, max) {
      counts.gets++;
      return place.get(key, max);
    },
    etag(key) {
      counts.gets++;
      return place.etag(key);
    },
  };
}

/** The processor time of this process, in ms. */
const spent = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;

if (what === 'rest') {
  for (let isMore = true; isMore; ) isMore = await archiver.step();
  app.close();
  process.exit();
}
records.watch(busyNames(0, HOSTS).map(parseHostname), now);

/** How long one record is read for, at the median, in ms, of the last of the days or of the first ones. */
async function readIn(at: number): Promise<number> {
  const reads = readsOf(app);
  const times: number[] = [];
  for (let n = 0; n < READ; n++) {
    const host = records.find(busyNames((n * 31) % HOSTS, 1)[0] ?? '');
    if (host === null) throw new Error('a name is missing');
    const began = performance.now();
    const found = await reads.asOf({ ...host, registrable_domain: registrableDomain(host.hostname) }, at);
    times.push(performance.now() - began);
    if (found === null) throw new Error(`${host.hostname} has no observation at ${at}`);
  }
  return median(times);
}

let [observed, signing, archiving] = [0, 0, 0];
const sizes: number[] = [];
for (let day = 0; day < DAYS + LEFT; day++) {
  now = FIRST + 12 * HOUR + day * DAY;
  const began = spent();
  for (let lease = await queue.lease(BATCH); lease !== null; lease = await queue.lease(BATCH)) {
    const looks = lease.hostnames.map((hostname) => {
      const probe = busyHost(hostname, day, now);
      for (const signal of Object.values(probe.signals)) signal.rtt_ms = Math.random() * 90;
      return probe;
    });
    for (const { outcome } of await queue.submit(lease.lease, looks)) {
      if (outcome !== 'recorded') throw new Error(`a probe was ${outcome}`);
      if (day < DAYS) observed++;
    }
  }
  if (day >= DAYS) continue;
  const between = spent();
  signing += between - began;
  now = FIRST + (day + 1) * DAY + 2 * HOUR;
  for (let isMore = true; isMore; ) isMore = await archiver.step();
  archiving += spent() - between;
  sizes.push(used());
}
const objects = records.archive.objects();
const seeds = objects.reduce((sum, one) => sum + (one.seeds === null ? 0 : 32 * one.rows), 0);
const stays = objects.reduce((sum, one) => sum + one.bytes, seeds);
const months = objects.filter(({ kind }) => kind === 'observations');
const rows = months.reduce((sum, one) => sum + one.rows, 0);
const bytes = months.reduce((sum, one) => sum + one.bytes, 0);
const half = Math.floor(DAYS / 2);
const [hot, cold] = [await readIn(now), await readIn(FIRST + 5 * DAY)];
app.close();
process.stderr.write(
  `${JSON.stringify({
    observed,
    row: bytes / rows,
    stays: stays / observed,
    objects: objects.length,
    left: ((sizes.at(-1) ?? 0) - (sizes[half] ?? 0)) / ((DAYS - 1 - half) * HOSTS),
    signed: signing / observed,
    archived: archiving / observed,
    ...{ hot, cold },
    ...{ puts: counts.puts, gets: counts.gets, megabytes: counts.bytes / 1e6 },
  })}\n`,
);

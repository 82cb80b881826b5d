import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import Database from 'libsql';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { present } from '../../src/proof/narrow.ts';
import { observe } from '../../src/proof/records/observation.ts';
import { DAY, HOUR, SECOND } from '../../src/proof/time.ts';
import { readObservations } from '../../src/records/archive/observation-file.ts';
import { sourceOf } from '../../src/records/archive/sources.ts';
import { operatorOf, parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { newId } from '../../src/shared/new-id.ts';
import { busyHost, isMoved } from '../bench/busy-host.ts';
import { appContextIn, type Clock, type Scope, tempFolder } from '../support/app-context.ts';
import { folderPlace } from '../support/archive.ts';
import { type ArchiverSaid, archiverIn } from './archiver.ts';

/** Hostnames of a transaction. */
export const BATCH = 500;
/** Days of the closed month; the day after them is open. */
export const DAYS = 30;
export const FIRST = Date.UTC(2026, 9, 2);
export const CLOSED = FIRST + DAYS * DAY;
export const LOOKED_UP = { path: 'example.zone2.h7', value: '192.0.2.7' };

/** An archive that the service reads, and other programs too. */
export interface ReadArchive {
  app: AppContext;
  /** Its folder. */
  archive: string;
  rows: number;
  /** The most memory that the archiver had, in MB. */
  rss: number;
}

/** An archive of really signed observations, and what it took. */
export interface SignedArchive extends ReadArchive {
  /** Seconds that passed, by what was done. */
  seconds: Record<'signed' | 'archived', number>;
  /** Processor time of an observation, in ms. */
  processor: Record<'signed' | 'archived', number>;
  /**
   * By an observation: all objects and seeds; a row of the month without its seed; and what the later half of the days left in
   * the used pages of the database.
   */
  bytes: Record<'archived' | 'row' | 'left', number>;
}

/**
 * Observes about so many times: each name once a day, for a month and the day after it. The first probe of a name, and
 * those with another address, go the way of a scanner’s; the others, of which only a serial changed, are signed and
 * stored by the same functions, without a queue. After each day an archiver, which is a process of its own, takes it.
 */
export async function signedArchive(t: Scope, about: number, tell: (line: string) => void): Promise<SignedArchive> {
  const folder = tempFolder(t);
  const archive = join(folder, 'archive');
  const clock = { now: FIRST };
  const more = { ARCHIVE_URL: archive };
  const app = appContextIn(t, folder, clock, more);
  const { records, database } = app.store;
  app.signer.open();
  const count = Math.ceil(about / (DAYS + 1));
  // Three hostnames of a registrable domain, and of its name servers.
  const names = Array.from({ length: count }, (_, n) => `h${n}.zone${Math.floor(n / 3)}.example`);
  for (let at = 0; at < names.length; at += BATCH)
    database.transact(() => records.watch(names.slice(at, at + BATCH).map(parseHostname), clock.now));
  const archiver = archiverIn(t, folder, more);
  const seconds = { signed: 0, archived: 0 };
  const sign = signerOf(app, clock);
  const before = process.cpuUsage();
  let said: ArchiverSaid = { rss: 0, cpu: 0 };
  let half = 0;
  for (let day = 0; day <= DAYS; day++) {
    if (day === DAYS / 2) half = usedIn(app);
    const [start, { cpu }] = [performance.now(), said];
    clock.now = FIRST + day * DAY + 6 * HOUR;
    for (let at = 0; at < names.length; at += BATCH) {
      database.transact(() => sign(names.slice(at, at + BATCH), day));
      // What libsql holds is freed between two turns.
      await turn();
    }
    const between = performance.now();
    said = await archiver.at(FIRST + (day + 1) * DAY + 2 * HOUR);
    const end = performance.now();
    seconds.signed += (between - start) / SECOND;
    seconds.archived += (end - between) / SECOND;
    const each = [between - start, end - between, said.cpu - cpu].map((ms) => `${(ms / names.length).toFixed(2)} ms`);
    tell(`day ${day + 1}: a row took ${each[0]} to sign, ${each[1]} to archive (${each[2]} of processor time)`);
  }
  const { user, system } = process.cpuUsage(before);
  archiver.end();
  const rows = names.length * (DAYS + 1);
  const objects = records.archive.objects();
  const sum = (kept: typeof objects, key: 'bytes' | 'rows') => kept.reduce((total, one) => total + one[key], 0);
  const months = objects.filter(({ kind }) => kind === 'observations');
  const seeds = objects.filter((one) => one.seeds !== null);
  return {
    ...{ app, archive, rows, seconds, rss: said.rss },
    processor: { signed: (user + system) / 1_000 / rows, archived: said.cpu / rows },
    bytes: {
      archived: (sum(objects, 'bytes') + 32 * sum(seeds, 'rows')) / rows,
      row: sum(months, 'bytes') / sum(months, 'rows'),
      left: (usedIn(app) - half) / (names.length * (DAYS / 2 + 1)),
    },
  };
}

/** Signs a probe of each of these names, on a day, at the time of the clock. Call it in a transaction. */
function signerOf({ store, signer }: AppContext, clock: Clock) {
  const { records } = store;
  const key = signer.key('records');
  return (names: string[], day: number): void => {
    const lease = { id: newId(), owner: 'test', until: clock.now + HOUR };
    records.leaseNames({ ...lease, names });
    for (const name of names) {
      const seen = busyHost(name, day, clock.now);
      for (const signal of Object.values(seen.signals)) signal.rtt_ms = Math.random() * 90;
      if (day === 0 || isMoved(name, day)) {
        const options = { ...key, now: clock.now, every: DAY, randomBytes };
        const { outcome } = recordProbe(records, lease.id, seen, options);
        assert.equal(outcome, 'recorded');
        continue;
      }
      const host = present(records.leased(lease.id, name));
      const record = recordOf(seen, host, clock.now);
      const prev = present(host.last).receipt_hash;
      const observation = observe({ record, seq: records.nextSeq(), prev, seed: randomBytes(32) }, key);
      records.addObservation(host.id, observation);
      records.logLeaf(receiptHashLeaf(observation.receipt));
      const next = { seq: observation.seq, due_at: clock.now + DAY, looked_at: clock.now, failures: 0 };
      records.requeue(host.id, { ...next, operator: operatorOf(name, seen.signals.NS.values) });
    }
  };
}

/** All rows that the manifest names, as the service reads them, by object and name. */
export async function* rowsIn({ app, archive }: ReadArchive) {
  const place = folderPlace(archive);
  for (const object of app.store.records.archive.objects()) {
    const isOfRows = object.kind === 'observations' || object.kind === 'observations_open';
    if (isOfRows) yield* readObservations(sourceOf(place, object));
  }
}

/** All changes, oldest first. */
export function* changesIn({ app: { store } }: ReadArchive) {
  for (let cursor = 0; ; ) {
    const rows = store.records.deltas({ rotating: 'both' }, { limit: 1_000, order: 'oldest', cursor });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    cursor = last.seq;
  }
}

/** The used pages of the database, in bytes: a file does not shrink, and fills its free pages first. */
function usedIn({ settings }: AppContext): number {
  const db = new Database(databaseFile(settings), { readonly: true });
  const number = (name: string): number => Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0] as number;
  const size = (number('page_count') - number('freelist_count')) * number('page_size');
  db.close();
  return size;
}

import { createHash } from 'node:crypto';
import type { Probe } from '../../src/proof/records/signal.ts';
import { DAY } from '../../src/proof/time.ts';
import { Archiver } from '../../src/records/jobs/archiver.ts';
import type { AppContext } from '../../src/server/context.ts';
import { type ArchivePlace, archivePlace } from '../../src/shared/storage/archive-place.ts';
import { FolderBucket } from '../../src/shared/storage/folder-bucket.ts';
import type { Clock } from './app-context.ts';
import { certificate, probe } from './probes.ts';
import { recordProbes } from './records-fixture.ts';

/** Noon of a day in the middle of a month. */
export const NOON = Date.UTC(2026, 9, 29, 12);
export const NAMES = ['a.example', 'www.a.example', 'c.test'];

/**
 * Records a probe of each name at noon on each of `days` days, beginning with the clock's, which it leaves at the end.
 */
export function observeDays(app: AppContext, clock: Clock, days: number, names = NAMES): void {
  const start = clock.now;
  app.signer.open();
  for (let day = 0; day < days; day++) {
    const looks = names.map((name, n): Probe => {
      const at = start + day * DAY + n * 1_000;
      return probe(name, at, { A: [`192.0.2.${(day % 3) + 1}`], SOA: [`ns.${name} ${day}`] }, certificate('a'));
    });
    app.store.database.transact(() => recordProbes(app, clock, looks));
  }
}

export function folderPlace(folder: string): ArchivePlace {
  const bucket = new FolderBucket(folder);
  return archivePlace(bucket, bucket, '');
}

/** Runs steps of the archiver until there is nothing more to do. */
export async function archiveAll(app: AppContext, place: ArchivePlace, most = 500): Promise<Archiver> {
  const archiver = new Archiver(app, place, { assertHeld() {} });
  for (let n = 0; await archiver.step(); n++) if (n > most) throw new Error('the archiver does not come to an end');
  return archiver;
}

export const sha256Of = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** Thrown where a killed process would end. */
export class Killed extends Error {}

/**
 * A place whose user is killed at its operation number `at`, from 1, before or after it took effect. Later operations
 * fail too: a dead process does nothing.
 */
export function killedAt(place: ArchivePlace, at: number, isAfter: boolean): ArchivePlace {
  let done = 0;
  const guarded =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      done++;
      if (done > at || (done === at && !isAfter)) throw new Killed();
      const result = await work(...args);
      if (done === at) throw new Killed();
      return result;
    };
  return {
    ...place,
    get: guarded(place.get),
    etag: guarded(place.etag),
    range: guarded(place.range),
    put: guarded(place.put),
    remove: guarded(place.remove),
    flush: guarded(place.flush),
  };
}

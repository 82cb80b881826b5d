import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { lookAtArchive } from '../../../src/records/jobs/archive-look.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { Archiver, GRACE } from '../../../src/records/jobs/archiver.ts';
import { localQueue } from '../../../src/records/jobs/local-queue.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { rotateKey } from '../../../src/signing/signing.ts';
import { signingState } from '../../../src/signing/signing-state.ts';
import { appContextIn, type Clock, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, NAMES, NOON, observeDays } from '../../support/archive.ts';
import { probe } from '../../support/probes.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const DAYS = 3;
let model = '';

const scope = fileScope();
before(() => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock);
  observeDays(app, clock, DAYS);
  app.close();
});

interface Stand {
  app: AppContext;
  clock: Clock;
  folder: string;
  place: ArchivePlace;
  /** Another process on the same database, or on a copy of it. */
  again(from?: string): AppContext;
}

function opened(t: Scope): Stand {
  const folder = tempFolder(t);
  cpSync(join(model, 'var'), join(folder, 'var'), { recursive: true });
  const clock = { now: NOON + DAYS * DAY };
  const open = (within: string) => appContextIn(t, within, clock, { ARCHIVE_URL: join(folder, 'archive') });
  const again = (from = folder) => open(from);
  return { app: open(folder), clock, folder, place: folderPlace(join(folder, 'archive')), again };
}

const archiverOf = (app: AppContext, place: ArchivePlace) => new Archiver(app, place, { assertHeld() {} });

async function requireSound(app: AppContext): Promise<void> {
  assert.equal(app.store.records.archive.through(), app.store.records.nextSeq() - 1);
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
}

/** Has `meanwhile` happen once, right before an operation on the key. */
function interrupted(place: ArchivePlace, key: string, meanwhile: () => Promise<unknown>): ArchivePlace {
  let isDone = false;
  return {
    ...place,
    async put(...args) {
      if (!isDone && args[0] === key) {
        isDone = true;
        await meanwhile();
      }
      return place.put(...args);
    },
  };
}

test('of two archivers on one database the slower one begins again, with the same rows', async (t) => {
  const { app, place, again } = opened(t);
  const other = again();
  const slow = interrupted(place, 'manifest.json', () => archiverOf(other, place).step());
  await archiveAll(app, slow);
  await requireSound(app);
});

test('one that was frozen before its manifest returns after the grace, and deletes nothing that counts', async (t) => {
  const { app, clock, place, again } = opened(t);
  const other = again();
  const frozen = interrupted(place, 'manifest.json', async () => {
    await archiveAll(other, place);
    clock.now += GRACE + HOUR;
    await archiveAll(other, place);
  });
  await archiveAll(app, frozen);
  await requireSound(app);
});

test('one that was frozen while it wrote the key of a month leaves the newer month there', async (t) => {
  const { app, clock, place, again } = opened(t);
  clock.now += 3 * DAY;
  const other = again();
  const [month] = ['observations/month=2026-10/bucket=b/data.parquet'];
  const frozen = interrupted(place, month ?? '', async () => {
    await archiveAll(other, place);
  });
  await archiveAll(app, frozen);
  await requireSound(app);
});

/** A database of another service, with the same place. */
function rival(t: Scope, { clock, folder }: Stand): AppContext {
  const app = appContextIn(t, tempFolder(t), { now: NOON }, { ARCHIVE_URL: join(folder, 'archive') });
  const early = { now: NOON };
  observeDays(app, early, DAYS);
  app.close();
  return appContextIn(t, join(app.settings.dataDir, '..'), clock, { ARCHIVE_URL: join(folder, 'archive') });
}

const keysIn = async (place: ArchivePlace) => {
  const keys: string[] = [];
  for await (const { key } of place.list('')) keys.push(key);
  return keys.sort();
};

test('of two services that begin at one empty place, the slower one leaves nothing there', async (t) => {
  const stand = opened(t);
  const { app, place } = stand;
  mkdirSync(join(stand.folder, 'archive'));
  const other = rival(t, stand);
  let [lost, theirs]: [string[], string[]] = [[], []];
  const slow = interrupted(place, 'manifest.json', async () => {
    await archiveAll(other, place);
    lost = app.store.records.archive.left(Number.MAX_SAFE_INTEGER);
    theirs = (await keysIn(place)).filter((key) => !lost.includes(key));
  });
  let removals = 0;
  const killed: ArchivePlace = {
    ...slow,
    async remove(keys) {
      await place.remove(removals++ === 0 ? keys.slice(0, 1) : keys);
      if (removals === 1) throw new Error('killed');
    },
  };
  Object.defineProperty(app, 'archive', { value: killed });
  await assert.rejects(runArchiver(app, 0), /none of this desk’s keys has signed it .*correct ARCHIVE_URL/);
  assert.deepEqual(await keysIn(place), [...theirs, ...lost.slice(1)].sort());
  app.signer.knowsArchive = false;
  await assert.rejects(runArchiver(app, 0), /none of this desk’s keys has signed it/);
  assert.deepEqual(await keysIn(place), theirs);
  assert.equal(app.store.records.observationTotals().count, DAYS * NAMES.length, 'it keeps its observations');
  await archiveAll(other, place);
  await requireSound(other);
});

test('a copy without a manifest, whose service has one by a later key, removes nothing', async (t) => {
  const { app, clock, folder, place, again } = opened(t);
  const copy = tempFolder(t);
  const key = `observations_open/1-${'0'.repeat(16)}.parquet`;
  app.store.database.transact(() => app.store.records.archive.leave(key, clock.now));
  await place.put(key, Buffer.from('an object'));
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  rotateKey(app);
  await archiveAll(app, place);
  const keys = await keysIn(place);
  const restored = again(copy);
  clock.now += DAY;
  await assert.rejects(runArchiver(restored, 0), /none of this desk’s keys has signed it/);
  assert.deepEqual(await keysIn(place), keys);
});

test('a database that is older than the manifest follows it, and archives nothing again', async (t) => {
  const { app, clock, folder, place, again } = opened(t);
  const copy = tempFolder(t);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  await archiveAll(app, place);
  const generation = app.store.records.archive.newest()?.generation;
  app.close();
  const restored = again(copy);
  assert.equal(restored.store.records.archive.through(), 0);
  await archiveAll(restored, place);
  assert.equal(restored.store.records.archive.newest()?.generation, generation, 'no manifest was made');
  await requireSound(restored);
  clock.now += DAY;
  observeDays(restored, clock, 1);
  clock.now += DAY;
  await archiveAll(restored, place);
  await requireSound(restored);
});

test('a database that lacks archived observations signs none of their numbers again', async (t) => {
  const { app, clock, folder, place, again } = opened(t);
  const copy = tempFolder(t);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  observeDays(app, clock, 1);
  clock.now += DAY;
  await archiveAll(app, place);
  app.close();
  const older = again(copy);
  await assert.rejects(archiverOf(older, place).step(), (error) => {
    assert(error instanceof Fault);
    assert.match(
      error.message,
      /^the archive has observations up to 12, and this database up to 9: it is an older copy/,
    );
    return true;
  });
  assert.equal(older.store.records.observationTotals().count, DAYS * NAMES.length, 'nothing was pruned');
});

test('a process signs no observation before it has looked at the archive', async (t) => {
  const { app, clock, folder, place, again } = opened(t);
  const copy = tempFolder(t);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  observeDays(app, clock, 1);
  clock.now += DAY;
  await archiveAll(app, place);
  const { records } = app.store;
  const queue = (of: AppContext) => localQueue(of, 'test');
  const look = () => probe('a.example', clock.now, { A: ['192.0.2.9'] });
  const lease = (of: AppContext) => queue(of).leaseNames(['a.example'])?.lease ?? '';

  const older = again(copy);
  older.signer.open();
  assert.equal(await queue(older).lease(10), null, 'nothing is given to probe');
  const early = queue(older).submit(lease(older), [look()]);
  await assert.rejects(early, /observations wait until the manifest of the archive can be read/);
  assert.deepEqual(signingState(older, 'records').why, 'archive');
  assert.equal(signingState(older, 'desk').signs, true, 'papers do not wait');
  await assert.rejects(
    lookAtArchive(older, { ...place, get: () => Promise.reject(new Error('away')) }),
    /does not answer \(away\)/,
  );
  assert.equal(await queue(older).lease(10), null);

  await lookAtArchive(older, place);
  assert.deepEqual(signingState(older, 'records').why, 'fenced');
  await assert.rejects(
    queue(older).submit(lease(older), [look()]),
    /the archive has 12 observations, and this database 9/,
  );
  assert.equal(older.store.records.nextSeq(), 10, 'nothing was signed');

  const newest = again();
  newest.signer.open();
  await lookAtArchive(newest, place);
  const [outcome] = await queue(newest).submit(lease(newest), [look()]);
  assert.equal(outcome?.outcome, 'recorded');
  assert.equal(records.nextSeq(), 14);

  await place.remove(['manifest.json']);
  await assert.rejects(lookAtArchive(again(), place), /has no manifest\.json, and this database has archived/);
});

test('a database that gave archived numbers again does not follow, and prunes nothing', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, folder, place, again } = opened(t);
  const copy = tempFolder(t);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  observeDays(app, clock, 1);
  clock.now += DAY;
  await archiveAll(app, place);
  app.close();
  // As one that ran without ARCHIVE_URL.
  const forked = again(copy);
  observeDays(forked, clock, 2);
  const { count } = forked.store.records.observationTotals();
  await assert.rejects(
    archiverOf(forked, place).step(),
    /observation 12 in the archive is not the one of this database/,
  );
  assert.equal(forked.store.records.observationTotals().count, count);
});

test('a place that lost its manifest, or has an older one, is refused', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, place } = opened(t);
  await archiverOf(app, place).step();
  const first = await place.get('manifest.json');
  assert(first);
  await archiveAll(app, place);
  await place.put('manifest.json', first.bytes);
  await assert.rejects(archiverOf(app, place).step(), /number 1, is older than the one of this database/);
  await place.remove(['manifest.json']);
  observeDays(app, clock, 1);
  clock.now += DAY;
  await assert.rejects(archiverOf(app, place).step(), /has no manifest\.json, and this database has archived/);
});

test('a place that refuses every manifest is named, and not tried for ever', { skip: ONLY_WIDE }, async (t) => {
  const { app, place } = opened(t);
  const refusing: ArchivePlace = {
    ...place,
    put: (key, bytes, onlyIf) => (onlyIf === undefined ? place.put(key, bytes) : Promise.resolve(null)),
  };
  await assert.rejects(archiveAll(app, refusing), /refused 5 times in a row .*\(manifest\.json\); end whatever else/);
  await archiveAll(app, place);
  await requireSound(app);
});

test('an object that changed since it was read back keeps its rows in the database', async (t) => {
  const { app, place } = opened(t);
  let uploaded = '';
  const lying: ArchivePlace = {
    ...place,
    async put(key, bytes, onlyIf) {
      const etag = await place.put(key, bytes, onlyIf);
      if (key.startsWith('observations_open/')) uploaded = key;
      if (key === 'manifest.json') await place.put(uploaded, Buffer.from('other bytes'));
      return etag;
    },
  };
  await assert.rejects(archiveAll(app, lying), /has other bytes in|is not what manifest\.json names/);
  assert.equal(app.store.records.observationTotals().count, DAYS * NAMES.length);
});

test('bytes that are altered on the way are no upload', async (t) => {
  const { app, place } = opened(t);
  const altering: ArchivePlace = {
    ...place,
    put: (key, bytes, onlyIf) => place.put(key, key.startsWith('seeds/') ? Buffer.alloc(96, 1) : bytes, onlyIf),
  };
  await assert.rejects(
    archiveAll(app, altering),
    /gave other bytes for seeds\/bucket=. than were uploaded|gave other bytes/,
  );
  assert.equal(app.store.records.archive.newest(), null);
});

test('neither a clock ahead nor one set back closes a day early or twice', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, place } = opened(t);
  clock.now = NOON + 2 * DAY + 2_500;
  await archiveAll(app, place);
  const { archive } = app.store.records;
  assert.equal(archive.through(), 2 * NAMES.length, 'the third day is today');
  clock.now = NOON - 5 * DAY;
  await archiveAll(app, place).catch((error: unknown) => assert.match(String(error), /clock/));
  assert.equal(archive.through(), 2 * NAMES.length);
  // Two days ahead: what is written with that time closes with it, and what follows goes to files of its own.
  clock.now = NOON + 5 * DAY;
  await archiveAll(app, place);
  clock.now = NOON + 2 * DAY + HOUR;
  observeDays(app, clock, 1);
  clock.now = NOON + 6 * DAY;
  await archiveAll(app, place);
  await requireSound(app);
});

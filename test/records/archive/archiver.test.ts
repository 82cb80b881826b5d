import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import Database from 'libsql';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { sha256 } from '../../../src/proof/basis.ts';
import { present } from '../../../src/proof/narrow.ts';
import { DAY, dayOf, HOUR } from '../../../src/proof/time.ts';
import type { Row } from '../../../src/records/archive/local-files.ts';
import { readObservations } from '../../../src/records/archive/observation-file.ts';
import { readsOf } from '../../../src/records/archive/reads.ts';
import { sourceOf } from '../../../src/records/archive/sources.ts';
import { bucketHash, parseHostname } from '../../../src/records/hostname.ts';
import { ArchiveManifest } from '../../../src/records/jobs/archive-manifest.ts';
import { ArchiveObjects } from '../../../src/records/jobs/archive-objects.ts';
import { Archiver, GRACE } from '../../../src/records/jobs/archiver.ts';
import { eraseName } from '../../../src/records/jobs/erasure.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { databaseFile } from '../../../src/shared/files/data-folder.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { appContextIn, type Clock, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, Killed, killedAt, NAMES, NOON, observeDays } from '../../support/archive.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { listed } from './archived.ts';

/** Days around the end of a month, all closed by the clock. */
const DAYS = 4;
const END = NOON + DAYS * DAY;
let model = '';

const scope = fileScope();
before(async () => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock, { ARCHIVE_URL: join(model, 'archive') });
  observeDays(app, clock, DAYS);
  app.close();
});

function opened(t: Scope): { app: AppContext; clock: Clock; place: ArchivePlace; folder: string } {
  const folder = tempFolder(t);
  cpSync(join(model, 'var'), join(folder, 'var'), { recursive: true });
  const clock = { now: END };
  const app = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  return { app, clock, folder, place: folderPlace(join(folder, 'archive')) };
}

async function faultsOf(app: AppContext): Promise<string[]> {
  return (await auditApp(app, { archive: true, trees: false })).faults;
}

test('closed days leave the database, months become one object a bucket, and numbers go on', async (t) => {
  const { app, clock, place } = opened(t);
  const { records } = app.store;
  await archiveAll(app, place);
  assert.equal(records.archive.through(), DAYS * NAMES.length);
  assert.equal(records.observationTotals().count, NAMES.length, 'the newest of each host stays');
  const kinds = Map.groupBy(
    records.archive.objects().filter(({ rows }) => rows > 0),
    ({ kind }) => kind,
  );
  assert.deepEqual(new Set(kinds.get('observations')?.map(({ period }) => period)), new Set(['2026-10']));
  for (const { key } of kinds.get('observations') ?? [])
    assert.match(key, /^observations\/month=2026-10\/bucket=[0-9a-f]\/data\.parquet$/);
  assert.deepEqual(new Set(kinds.get('observations_open')?.map(({ period }) => period)), new Set(['2026-11-01']));
  assert.deepEqual(await faultsOf(app), []);
  assert.deepEqual((await auditApp(app, { trees: false })).faults, [], 'also without a look at the archive');
  observeDays(app, clock, 1);
  assert.equal(records.nextSeq(), (DAYS + 1) * NAMES.length + 1);
  clock.now += DAY;
  await archiveAll(app, place);
  assert.deepEqual(await faultsOf(app), []);
  clock.now += GRACE + HOUR;
  await archiveAll(app, place);
  const listed = [];
  for await (const { key } of place.list('')) listed.push(key);
  const named = records.archive.objects().flatMap(({ key, seeds }) => [key, ...(seeds === null ? [] : [seeds.key])]);
  assert.deepEqual(listed.toSorted(), [...named, 'manifest.json'].toSorted(), 'nothing else is left after the grace');
});

for (const isAfter of [false, true]) {
  test(`a kill ${isAfter ? 'after' : 'before'} each operation of each step loses nothing`, {
    skip: ONLY_WIDE,
  }, async (t) => {
    const { app, place } = opened(t);
    const { archive } = app.store.records;
    let kills = 0;
    for (let at = 1, generation = 0, isMore = true; isMore; ) {
      try {
        isMore = await new Archiver(app, killedAt(place, at, isAfter), { assertHeld() {} }).step();
        at++;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        kills++;
        at++;
      }
      const now = archive.newest()?.generation ?? 0;
      if (now !== generation) at = 1;
      generation = now;
    }
    t.diagnostic(`${kills} kills`);
    assert.ok(kills > 30);
    await archiveAll(app, place);
    assert.equal(archive.through(), DAYS * NAMES.length);
    assert.deepEqual(await faultsOf(app), []);
  });
}

test('a flipped byte is named with its object and its row', async (t) => {
  const { app, place, folder } = opened(t);
  await archiveAll(app, place);
  const month = app.store.records.archive.objects().find(({ kind, rows }) => kind === 'observations' && rows > 3);
  assert.ok(month);
  const file = join(folder, 'archive', month.key);
  const whole = readFileSync(file);
  // Signatures are stored as they are, so that one byte of them is one of the file.
  const note = app.store.records.archive.newest()?.note ?? '';
  assert.ok(note.startsWith('archive/v1\n'));
  let named = 0;
  for (let at = 100; at < whole.length - 100; at += 397) {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const faults = await faultsOf(app);
    assert.ok(
      faults.some((fault) => fault.startsWith(`${month.key}: its bytes are not those`)),
      String(at),
    );
    if (faults.some((fault) => new RegExp(`^${month.key}(, row \\d+|: rows \\d+ to)`).test(fault))) named++;
  }
  assert.ok(named > 0);
  writeFileSync(file, whole);
  assert.deepEqual(await faultsOf(app), []);
});

test('months and erasures of buckets whose digit is also the number of a copied file', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  const place = folderPlace(join(folder, 'archive'));
  // Of the buckets 0, 1 and 2.
  const names = ['n6.example', 'n21.example', 'n37.example'];
  observeDays(app, clock, 4, names);
  clock.now = END;
  await archiveAll(app, place);
  eraseName(app, parseHostname(names[0] ?? ''), 'asked');
  await archiveAll(app, place);
  assert.deepEqual(await faultsOf(app), []);
});

test('a bucket of very many rows is divided, and no row is left out', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  const { records } = app.store;
  // All of bucket 0, of which one has another registrable domain by now.
  const names = Array.from({ length: 200 }, (_, n) => `n${n}.example`).filter((name) =>
    bucketHash(name, name).startsWith('0'),
  );
  observeDays(app, clock, 4, names);
  clock.now = END;
  const db = new Database(databaseFile(app.settings));
  const archiver = new Archiver(app, folderPlace(join(folder, 'archive')), { assertHeld() {}, rowsMax: 3 });
  while (await archiver.step()) {
    if (records.archive.through() < 4 * names.length) continue;
    db.prepare("UPDATE hostnames SET registrable_domain = 'example' WHERE hostname = ?").run([names[0]]);
  }
  db.close();
  const months = records.archive.objects().filter(({ kind, rows }) => kind === 'observations' && rows > 0);
  assert.ok(months.length > 1);
  for (const { bucket } of months) assert.match(bucket, /^0[0-9a-f]$/);
  assert.deepEqual(await faultsOf(app), []);
  for (const name of names.slice(1)) {
    const host = present(records.find(name));
    const all = await listed(readsOf(app).all(host));
    assert.equal(all.length, 4, name);
  }
});

test('rows of hostnames that the database lacks are divided by their own domains', async (t) => {
  const { app, place } = opened(t);
  await archiveAll(app, place);
  const hashOf = (name: string) => bucketHash(name, parseHostname(name).registrable_domain);
  const names = Array.from({ length: 200 }, (_, n) => `www.n${n}.example`)
    .filter((name) => hashOf(name).startsWith('0'))
    .sort();
  const objects = new ArchiveObjects(app, place, () => {});
  const manifest = new ArchiveManifest(app, place, objects, () => {});
  const rows = async function* (): AsyncGenerator<Row> {
    for (const [n, hostname] of names.entries()) {
      const receipt = `of ${hostname}\n\n`;
      yield {
        ...{ seq: 1_000 + n, hostname, observed_at: NOON, signed_at: null, body: '{}', circumstances: '[]' },
        ...{ receipt, receipt_hash: sha256(receipt.slice(0, -1)), seed: new Uint8Array(32) },
      };
    }
  };
  await manifest.adopt();
  const draft = { kind: 'observations_open' as const, period: dayOf(NOON), bucket: '0' };
  await manifest.commit(manifest.base(), { added: [await objects.put(draft, rows(), 9)] });
  const archiver = new Archiver(app, place, { assertHeld() {}, rowsMax: 3 });
  while (await archiver.step());
  const months = app.store.records.archive.objects().filter(({ kind, rows }) => kind === 'observations' && rows > 0);
  const found: string[] = [];
  for (const object of months) {
    for await (const { hostname } of readObservations(sourceOf(place, object))) {
      if (!names.includes(hostname)) continue;
      found.push(hostname);
      assert.ok(hashOf(hostname).startsWith(object.bucket), `${hostname} in bucket ${object.bucket}`);
    }
  }
  assert.deepEqual(found.sort(), names);
});

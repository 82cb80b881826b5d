import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import type { ArchiveObject } from '../../../src/records/archive/manifest.ts';
import { readRows } from '../../../src/records/archive/parquet-read.ts';
import { sightingsOf } from '../../../src/records/archive/sightings.ts';
import { sorted } from '../../../src/records/archive/sorted.ts';
import { sourceOf } from '../../../src/records/archive/sources.ts';
import { type ArchiveTable, DELTAS, SIGHTINGS, type SightingRow } from '../../../src/records/archive/tables.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { appContextIn, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, NAMES, NOON, observeDays } from '../../support/archive.ts';
import { certificate, probe } from '../../support/probes.ts';
import * as fc from '../../support/properties.ts';
import { recordProbes } from '../../support/records-fixture.ts';

/** Three days of October, and the first three of November. */
const DAYS = 6;
let model = '';

const scope = fileScope();
before(async () => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock);
  observeDays(app, clock, DAYS);
  clock.now = NOON + DAYS * DAY;
  await archiveAll(app, folderPlace(join(model, 'archive')));
  app.close();
});

function opened(t: Scope, now = NOON + DAYS * DAY) {
  const folder = tempFolder(t);
  for (const part of ['var', 'archive']) cpSync(join(model, part), join(folder, part), { recursive: true });
  const clock = { now };
  const app = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  return { app, clock, folder, place: folderPlace(join(folder, 'archive')) };
}

type Kind = ArchiveObject['kind'];
const copiesOf = (app: AppContext, kind: Kind) =>
  app.store.records.archive
    .objects()
    .filter((object) => object.kind === kind && !object.period.startsWith('1970'))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

async function rowsIn<Row extends object>(place: ArchivePlace, table: ArchiveTable<Row>, objects: ArchiveObject[]) {
  const rows: Row[] = [];
  for (const object of objects)
    for await (const { row: _, ...row } of readRows(table, sourceOf(place, object))) rows.push(row as Row);
  return rows;
}

/** What the database knows of all values, as a list of texts. */
function valuesOf(app: AppContext): string[] {
  const { records } = app.store;
  return NAMES.flatMap((name) =>
    records
      .history(records.find(name)?.id ?? 0, {}, 1_000)
      .map((seen) => JSON.stringify([name, seen.signal, seen.value, seen.first_seen, seen.last_seen, seen.count])),
  ).sort();
}

/** The same of sightings, added up over months and files. */
function added(rows: readonly SightingRow[]): string[] {
  const groups = Map.groupBy(rows, ({ domain, signal, value }) => JSON.stringify([domain, signal, value]));
  return [...groups]
    .map(([key, own]) =>
      JSON.stringify([
        ...JSON.parse(key),
        Math.min(...own.map(({ first_seen }) => first_seen)),
        Math.max(...own.map(({ last_seen }) => last_seen)),
        own.reduce((sum, { count }) => sum + count, 0),
      ]),
    )
    .sort();
}

async function faultsOf(app: AppContext) {
  return (await auditApp(app, { archive: true, trees: false })).faults;
}

test('changes of closed days and values of closed months are copied, and are those of the database', async (t) => {
  const { app, place, clock } = opened(t);
  const days = copiesOf(app, 'deltas');
  assert.deepEqual(
    days.map(({ key }) => key),
    ['2026-10-30', '2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03'].map(
      (day) => `deltas/day=${day}/data.parquet`,
    ),
  );
  const deltas = app.store.records.deltas(
    { rotating: 'both', until: Date.UTC(2026, 10, 4) },
    { limit: 1_000, order: 'oldest' },
  );
  assert.ok(deltas.length > 10);
  assert.deepEqual(
    (await rowsIn(place, DELTAS, days)).map(({ changed_at: at, path: _, before, after, rotation, ...row }) => ({
      ...{ ...row, at, before: JSON.parse(before), after: JSON.parse(after) },
      rotation,
    })),
    deltas.map((delta) => ({ ...delta })),
  );
  assert.deepEqual(new Set(copiesOf(app, 'sightings').map(({ period }) => period)), new Set(['2026-10']));
  clock.now = NOON + 40 * DAY;
  await archiveAll(app, place);
  const sightings = await rowsIn(place, SIGHTINGS, copiesOf(app, 'sightings'));
  assert.deepEqual(added(sightings), valuesOf(app));
  const byValue = copiesOf(app, 'sightings_by_value');
  assert.deepEqual(
    byValue.map(({ key }) => key),
    ['2026-10', '2026-11'].map((month) => `sightings_by_value/month=${month}/part=0000/data.parquet`),
  );
  for (const part of byValue) {
    const values = (await rowsIn(place, SIGHTINGS, [part])).map(({ value }) => value);
    assert.deepEqual(values, values.toSorted());
  }
  assert.deepEqual(added(await rowsIn(place, SIGHTINGS, byValue)), added(sightings));
  const { generation } = app.store.records.archive.newest() ?? {};
  await archiveAll(app, place);
  assert.equal(app.store.records.archive.newest()?.generation, generation, 'nothing is due any more');
  assert.deepEqual(await faultsOf(app), []);
});

test('a copy that is gone, or is another, is reported by an audit and made again with the same rows', async (t) => {
  const { app, folder, place } = opened(t);
  const kinds = ['deltas', 'sightings', 'sightings_by_value'] as const;
  const before = kinds.map((kind) => readFileSync(join(folder, 'archive', copiesOf(app, kind)[0]?.key ?? '')));
  for (const [n, kind] of kinds.entries()) {
    const { key = '' } = copiesOf(app, kind)[0] ?? {};
    if (n === 0) writeFileSync(join(folder, 'archive', key), 'other');
    else rmSync(join(folder, 'archive', key));
  }
  assert.equal((await faultsOf(app)).length, kinds.length);
  await archiveAll(app, place);
  assert.deepEqual(
    kinds.map((kind) => readFileSync(join(folder, 'archive', copiesOf(app, kind)[0]?.key ?? ''))),
    before,
  );
  assert.deepEqual(await faultsOf(app), []);
});

test('what comes late for a closed month, and changes of a closed day, come to their copies', async (t) => {
  const { app, clock, place } = opened(t);
  clock.now = NOON + 40 * DAY;
  await archiveAll(app, place);
  // A scanner whose clock is behind: its probe is of the last day of the database, in a month that is closed.
  const at = NOON + (DAYS - 1) * DAY + HOUR;
  const looks = [probe('c.test', at, { A: ['192.0.2.77'] }, certificate('a'))];
  app.store.database.transact(() => recordProbes(app, clock, looks));
  clock.now += 2 * DAY;
  await archiveAll(app, place);
  const late = copiesOf(app, 'observations').filter(({ key }) => key.includes('/late-'));
  assert.equal(late.length, 1);
  assert.deepEqual(copiesOf(app, 'observations_open'), []);
  const sightings = await rowsIn(place, SIGHTINGS, copiesOf(app, 'sightings'));
  assert.deepEqual(added(sightings), valuesOf(app));
  assert.ok(sightings.some(({ value }) => value === '192.0.2.77'));
  assert.deepEqual(added(await rowsIn(place, SIGHTINGS, copiesOf(app, 'sightings_by_value'))), valuesOf(app));
  const deltas = app.store.records.deltas({ rotating: 'both' }, { limit: 1_000, order: 'oldest' });
  const copied = await rowsIn(place, DELTAS, copiesOf(app, 'deltas'));
  assert.deepEqual(
    copied.map(({ seq }) => seq),
    deltas.map(({ seq }) => seq),
  );
  assert.deepEqual(await faultsOf(app), []);
});

test('any number of rows is sorted in runs', async (t) => {
  const compare = (a: SightingRow, b: SightingRow) => (a.value === b.value ? 0 : a.value < b.value ? -1 : 1);
  const rowOf = (value: string, n: number): SightingRow => ({
    ...{ path: `p${n}`, domain: 'd', signal: 'A', value, first_seen: n, last_seen: n, count: 1 },
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 3 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (values, run) => {
        const folder = tempFolder(t);
        const rows = values.map(rowOf);
        const found: string[] = [];
        const each = async function* () {
          yield* rows;
        };
        for await (const row of sorted(SIGHTINGS, each(), compare, folder, run)) found.push(row.value);
        assert.deepEqual(found, values.toSorted());
      },
    ),
    { numRuns: 20 },
  );
});

test('a name with more values than memory should hold has them in several rows, which add up', async () => {
  const big = 'x'.repeat(1_500_000);
  const observations = async function* () {
    for (let n = 0; n < 8; n++) {
      const body = {
        certificate: null,
        certificate_status: 'none',
        'signals.TXT': { status: 'ok', values: [`${n % 4} ${big}`] },
      };
      yield { path: 'example.a', domain: 'a.example', observed_at: n, body: JSON.stringify(body) };
    }
    yield { path: 'example.b', domain: 'b.example', observed_at: 9, body: 'damaged' };
  };
  const rows: SightingRow[] = [];
  for await (const row of sightingsOf(observations())) rows.push(row);
  assert.ok(rows.length > 4);
  const sums = Map.groupBy(rows, ({ value }) => value.slice(0, 1));
  assert.deepEqual(
    [...sums.values()].map((own) => own.reduce((sum, { count }) => sum + count, 0)),
    [2, 2, 2, 2],
  );
});

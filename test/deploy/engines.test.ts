import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { DAY, HOUR } from '../../src/proof/time.ts';
import { queryArchive } from '../../src/records/archive/engine.ts';
import { readSettings } from '../../src/server/env.ts';
import { Fault } from '../../src/shared/fault.ts';
import { appContextIn, envIn, fileScope, tempFolder } from '../support/app-context.ts';
import { archiveAll, folderPlace, NAMES, NOON, observeDays } from '../support/archive.ts';
import { certificate, probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { ENGINES, type Engine, sumsIn, sumsOf } from './engines.ts';

const DAYS = 5;
/** A value whose characters have another order in UTF-8 than in UTF-16, and quotes. */
const ODD = '"quo\\"ted" \u{1f5de} \ue000';
const LOOKED_UP = { path: 'example.a', value: '192.0.2.2' };
let archive = '';
let wanted: string[][][] = [];

const scope = fileScope();
before(async () => {
  const folder = tempFolder(scope);
  archive = join(folder, 'archive');
  const clock = { now: NOON };
  const app = appContextIn(scope, folder, clock);
  const { records } = app.store;
  observeDays(app, clock, DAYS);
  const storedOf = (name: string) => [...records.storedObservations(records.find(name)?.id ?? 0, 1, 1e9)];
  const early = NAMES.flatMap(storedOf);
  clock.now = NOON + DAYS * DAY;
  await archiveAll(app, folderPlace(archive));
  // Late for a month that is closed, whose days are still beside it.
  const late = probe('late.test', NOON + HOUR, { A: [LOOKED_UP.value], TXT: [ODD, 'b'] }, certificate('a'));
  app.store.database.transact(() => recordProbes(app, clock, [late]));
  const closed = Date.UTC(2026, 10, 1);
  const deltas = records.deltas({ rotating: 'both', until: closed + 3 * DAY }, { limit: 1_000 });
  wanted = await sumsOf([...early, ...storedOf('late.test')], deltas, { ...LOOKED_UP, closed });
  await archiveAll(app, folderPlace(archive));
  app.close();
});

function reads(engine: Engine, isOnlyWide: boolean): void {
  const skip = engine.missing || (isOnlyWide && ONLY_WIDE);
  test(`${engine.name} reads each observation, change and value once, and the same`, { skip }, async (t) => {
    assert.deepEqual(await engine.ask(t, archive, sumsIn(engine.dialect, LOOKED_UP.path, LOOKED_UP.value)), wanted);
  });
}
reads(ENGINES.duckdb, false);
reads(ENGINES.clickhouse, false);
reads(ENGINES.spark, true);
reads(ENGINES.trino, true);

test('DuckDB’s view of answers has the values of a type', { skip: ENGINES.duckdb.missing }, async (t) => {
  const sql = "SELECT DISTINCT value FROM answers WHERE path = 'test.late' AND signal = 'TXT' ORDER BY value";
  assert.deepEqual(await ENGINES.duckdb.ask(t, archive, [sql]), [[[ODD], ['b']]]);
});

const settingsOf = (url?: string, more = {}) =>
  readSettings(envIn(tempFolder(scope), url === undefined ? {} : { ARCHIVE_URL: url, ...more }));
const NODE = { RECORDS_NODES: 'a=00-ff@https://a.records.example', RECORDS_NODE: 'a' };

test('archive sql says what is missing', async () => {
  await assert.rejects(
    queryArchive(settingsOf(), 'SELECT 1', 1),
    new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to the archive'),
  );
  await assert.rejects(queryArchive(settingsOf('/srv/[a]'), 'SELECT 1', 1), /DuckDB takes \/srv\/\[a\] for a pattern/);
  const ofNode = queryArchive(settingsOf('/srv/[a]', NODE), 'SELECT 1', 1);
  await assert.rejects(ofNode, /DuckDB takes \/srv\/\[a\]\/nodes\/a for a pattern/);
  if (ENGINES.duckdb.missing === false) return;
  await assert.rejects(queryArchive(settingsOf(archive), 'SELECT 1', 1), /run npm install --no-save @duckdb\/node-api/);
});

test('archive sql reads the tables, not the seeds nor other files', { skip: ENGINES.duckdb.missing }, async () => {
  const ask = (sql: string, limit = 10) => queryArchive(settingsOf(archive), sql, limit);
  assert.deepEqual(await ask('SELECT count(*) AS count FROM observations'), [{ count: '16' }]);
  assert.equal((await ask('SELECT seq FROM observations', 3)).length, 3);
  for (const file of [`${archive}/manifest.json`, `${archive}/seeds/*/*.bin`, '/etc/passwd']) {
    await assert.rejects(ask(`SELECT * FROM read_text('${file}')`), /^Fault: DuckDB: Permission Error/, file);
  }
  for (const sql of [`COPY (SELECT 1) TO '${archive}/deltas/new.csv'`, 'SET threads = 9', 'SELECT 1; SELECT 2']) {
    await assert.rejects(ask(sql), /give one SELECT, not "/, sql);
  }
  const made = `${archive}/deltas/made`;
  await assert.rejects(ask(`EXPORT DATABASE '${made}'`), /give one SELECT, not "/);
  assert.ok(!existsSync(made), 'a statement that is refused writes nothing');
  await assert.rejects(ask('SELEC 1'), /DuckDB: .*Parser Error/);
});

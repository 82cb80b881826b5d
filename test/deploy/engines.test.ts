import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { archiveAll, folderPlace, NAMES, NOON, observeDays } from '../support/archive.ts';
import { DEPLOY } from './fixture.ts';

/** The part of DuckDB's package that this test uses; the package is no dependency. */
interface DuckDb {
  DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> };
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }>;
  closeSync(): void;
}

const PACKAGE = '@duckdb/node-api';
const duckdb = (await import(PACKAGE).catch(() => null)) as DuckDb | null;

test('DuckDB reads each observation of the archive once, and the same', {
  skip: duckdb === null ? `${PACKAGE} is not installed` : false,
}, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  observeDays(app, clock, 5);
  const { records } = app.store;
  const wanted = NAMES.flatMap((name) => [...records.storedObservations(records.find(name)?.id ?? 0, 1, 1e9)]);
  clock.now = NOON + 5 * DAY;
  await archiveAll(app, folderPlace(join(folder, 'archive')));

  const connection = await (duckdb as DuckDb).DuckDBInstance.create().then((instance) => instance.connect());
  t.after(() => connection.closeSync());
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run(
    readFileSync(join(DEPLOY, 'engines/duckdb.sql'), 'utf8').replaceAll('ARCHIVE', join(folder, 'archive')),
  );
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const columns = 'seq, domain, epoch_ms(observed_at) AS at, body, circumstances';
  const found = await rows(
    `SELECT ${columns} FROM observations UNION ALL SELECT ${columns} FROM observations_open ORDER BY seq`,
  );
  assert.deepEqual(
    found.map((row) => ({ ...row, seq: Number(row.seq), at: Number(row.at) })),
    wanted
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ seq, hostname, observed_at, body, circumstances }) => ({
        seq,
        domain: hostname,
        at: observed_at,
        body,
        circumstances,
      })),
  );
  const answers = await rows(
    "SELECT DISTINCT value FROM answers WHERE path = 'example.a' AND signal = 'A' ORDER BY value",
  );
  assert.deepEqual(
    answers.map(({ value }) => value),
    ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  );
});

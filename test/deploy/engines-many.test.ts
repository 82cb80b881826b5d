import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { DAY, dayOf } from '../../src/proof/time.ts';
import { folderOf, type TableKind } from '../../src/records/archive/layout.ts';
import { localSource } from '../../src/records/archive/local-files.ts';
import { readObservations, writeObservations } from '../../src/records/archive/observation-file.ts';
import { readRows } from '../../src/records/archive/parquet-read.ts';
import { type WrittenFile, writeParquet } from '../../src/records/archive/parquet-write.ts';
import { byValue, SEEN_COLUMNS, sightingsOf } from '../../src/records/archive/sightings.ts';
import { sorted } from '../../src/records/archive/sorted.ts';
import { DELTAS, type DeltaRow, OBSERVATIONS, SIGHTINGS } from '../../src/records/archive/tables.ts';
import { monthOf } from '../records/archive/archived.ts';
import { fileScope, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { ENGINES, sumsIn, sumsOf } from './engines.ts';

/** Rows of the closed month. `.ci/wide engines` has ten million. */
const ROWS = Number(process.env.ENGINE_ROWS ?? 30_000);
const DAYS = 30;
const BUCKETS = [...'0123456789abcdef'];
/** Names in a bucket. */
const NAMES = Math.ceil(ROWS / DAYS / BUCKETS.length);
const MONTH = Date.UTC(2026, 9, 1);
const CLOSED = Date.UTC(2026, 10, 1);
const LOOKED_UP = { path: 'example.d0000000', value: '192.0.2.7' };

let archive = '';
let wanted: string[][][] = [];

const scope = fileScope();
before(
  async () => {
    if (ONLY_WIDE !== false) return;
    archive = join(tempFolder(scope), 'archive');
    const observed: ReturnType<typeof localSource>[] = [];
    const seen: ReturnType<typeof localSource>[] = [];
    for (const [n, bucket] of BUCKETS.entries()) {
      const file = fileIn('observations', '2026-10', bucket);
      const month = localFile(file, await writeObservations(monthOf(NAMES, DAYS, MONTH, n * NAMES), file));
      const later = fileIn('observations_open', '2026-11-01', bucket);
      // Names of their own, so that no number is given twice.
      const day = localFile(
        later,
        await writeObservations(monthOf(NAMES, 1, CLOSED, (DAYS * BUCKETS.length + n) * NAMES), later),
      );
      observed.push(month, day);
      const sightings = fileIn('sightings', '2026-10', bucket);
      const rows = sightingsOf(readRows(OBSERVATIONS, month, SEEN_COLUMNS));
      seen.push(localFile(sightings, await writeParquet(SIGHTINGS, rows, sightings)));
    }
    const runs = tempFolder(scope);
    const all = async function* () {
      for (const source of seen) yield* readRows(SIGHTINGS, source);
    };
    await writeParquet(
      SIGHTINGS,
      sorted(SIGHTINGS, all(), byValue, runs),
      fileIn('sightings_by_value', '2026-10', '0000'),
    );
    const deltas = Array.from({ length: DAYS }, (_, day) => changesOf(day));
    for (const [day, rows] of deltas.entries())
      await writeParquet(DELTAS, rows, fileIn('deltas', dayOf(MONTH + day * DAY), ''));
    const read = async function* () {
      for (const source of observed) yield* readObservations(source);
    };
    wanted = await sumsOf(
      read(),
      deltas.flat().map((row) => ({ ...row, at: row.changed_at })),
      { ...LOOKED_UP, closed: CLOSED },
    );
  },
  { timeout: 2 ** 31 - 1 },
);

function fileIn(kind: TableKind, period: string, bucket: string): string {
  const file = join(archive, folderOf(kind, period, bucket), 'data.parquet');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function localFile(file: string, { sha256, bytes }: WrittenFile) {
  return localSource(file, sha256, bytes);
}

function changesOf(day: number): DeltaRow[] {
  return Array.from({ length: Math.ceil(ROWS / 1_000) }, (_, n) => {
    const domain = `d${n}.example`;
    return {
      ...{ seq: day * ROWS + n, changed_at: MONTH + day * DAY + n, path: `example.d${n}`, domain, signal: 'A' },
      ...{
        kind: 'changed',
        before: `["192.0.2.${day}"]`,
        after: `["192.0.2.${n}"]`,
        observation_seq: n,
        rotation: null,
      },
    };
  });
}

for (const engine of Object.values(ENGINES)) {
  test(`${engine.name} finds the counts and sums of the service in ${ROWS} rows`, {
    skip: ONLY_WIDE || engine.missing,
  }, async (t) => {
    const { path, value } = LOOKED_UP;
    const start = performance.now();
    assert.deepEqual(await engine.ask(t, archive, sumsIn(engine.dialect, path, value)), wanted);
    t.diagnostic(`${engine.name}: ${Math.round((performance.now() - start) / 1_000)} s`);
  });
}

test(`the archive of ${ROWS} rows has each row once`, { skip: ONLY_WIDE }, () => {
  assert.equal(wanted[0]?.[0]?.[0], String(NAMES * BUCKETS.length * (DAYS + 1)));
});

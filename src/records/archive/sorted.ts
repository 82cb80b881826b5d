import { join } from 'node:path';
import { present } from '../../proof/narrow.ts';
import { localSource } from './local-files.ts';
import { readRows } from './parquet-read.ts';
import { writeParquet } from './parquet-write.ts';
import type { RangeSource } from './reader.ts';
import type { ArchiveTable } from './tables.ts';

/** The most rows, and characters of their texts, sorted in memory at once. Merging keeps as many, over all runs. */
const RUN = 100_000;
const RUN_TEXT = 32_000_000;
/** The most rows of a run read at once. */
const BATCH = 1_000;

/**
 * Sorts any number of rows: sorts runs, writes them as files to `folder`, and merges them. The caller removes the
 * folder. `compare` works as for `Array.prototype.sort`.
 */
export async function* sorted<Row extends object>(
  table: ArchiveTable<Row>,
  rows: AsyncIterable<Row>,
  compare: (a: Row, b: Row) => number,
  folder: string,
  run = RUN,
): AsyncGenerator<Row> {
  const runs: RangeSource[] = [];
  let chunk: Row[] = [];
  let text = 0;
  const end = async () => {
    const file = join(folder, `run-${runs.length}.parquet`);
    const { bytes, sha256 } = await writeParquet(table, chunk.sort(compare), file);
    runs.push(localSource(file, sha256, bytes));
    [chunk, text] = [[], 0];
  };
  for await (const row of rows) {
    chunk.push(row);
    for (const value of Object.values(row)) if (typeof value === 'string') text += value.length;
    if (chunk.length === run || text > RUN_TEXT) await end();
  }
  if (runs.length === 0) return yield* chunk.sort(compare);
  await end();
  const batch = { rows: Math.min(BATCH, Math.ceil(RUN / runs.length)), bytes: RUN_TEXT / runs.length };
  const rowsOf = (source: RangeSource) => readRows(table, source, undefined, batch) as AsyncGenerator<unknown>;
  yield* mergedRuns(
    runs.map((source) => rowsOf(source) as AsyncGenerator<Row>),
    compare,
  );
}

/** Merges sorted iterators. */
async function* mergedRuns<Row>(
  runs: readonly AsyncIterator<Row>[],
  compare: (a: Row, b: Row) => number,
): AsyncGenerator<Row> {
  // In descending order, so that the next row is taken off the end.
  const heads: { row: Row; rows: AsyncIterator<Row> }[] = [];
  const advance = async (rows: AsyncIterator<Row>): Promise<void> => {
    const { value: row, done } = await rows.next();
    if (done === true) return;
    let [low, high] = [0, heads.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(present(heads[middle]).row, row) > 0) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, { row, rows });
  };
  for (const rows of runs) await advance(rows);
  for (let next = heads.pop(); next !== undefined; next = heads.pop()) {
    yield next.row;
    await advance(next.rows);
  }
}

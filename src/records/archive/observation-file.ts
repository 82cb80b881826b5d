import { ObservationRows, type Receipted, type StoredObservation, StoredObservations } from './observation-row.ts';
import { findRows, readRange, readRows } from './parquet-read.ts';
import { type WrittenFile, writeParquet } from './parquet-write.ts';
import type { RangeSource } from './reader.ts';
import { OBSERVATIONS } from './tables.ts';

/** An observation with its row number in the file, from 0. Its seed is at the same position of the seeds file. */
export type Archived = StoredObservation & { row: number };

/** Writes observations, sorted by path and number, to a new file. */
export function writeObservations(
  observations: Iterable<StoredObservation> | AsyncIterable<StoredObservation>,
  file: string,
): Promise<WrittenFile> {
  return writeParquet(OBSERVATIONS, rowsOf(observations), file);
}

async function* rowsOf(observations: Iterable<StoredObservation> | AsyncIterable<StoredObservation>) {
  const rows = new ObservationRows();
  for await (const one of observations) yield rows.rowOf(one);
}

/** The observations of a file in file order, or only those of one name, by its path. */
export async function* readObservations(
  source: RangeSource,
  { path }: { path?: string | undefined } = {},
): AsyncGenerator<Archived> {
  const observations = new StoredObservations();
  const range = path === undefined ? null : await findRows(source, path);
  if (path !== undefined && range === null) return;
  const rows = range === null ? readRows(OBSERVATIONS, source) : await readRange(OBSERVATIONS, source, range);
  for await (const row of rows) yield { ...observations.storedOf(row), row: row.row };
}

/** A name's observations without their record texts, for receipts and lists, with their row numbers. */
export async function receiptsIn(source: RangeSource, path: string): Promise<(Receipted & { row: number })[]> {
  const range = await findRows(source, path);
  if (range === null) return [];
  const observations = new StoredObservations();
  const rows = await readRange(OBSERVATIONS, source, range, RECEIPT_COLUMNS);
  return rows.map((row) => ({ ...observations.receiptedOf(row), row: row.row }));
}

const RECEIPT_COLUMNS = OBSERVATIONS.columns
  .map(({ name }) => name)
  .filter((name) => name !== 'body' && name !== 'circumstances');

/** The record texts of rows `rowStart` up to, not including, `rowEnd`. */
export function textsIn(source: RangeSource, rowStart: number, rowEnd: number) {
  return readRange(OBSERVATIONS, source, { rowStart, rowEnd }, ['body', 'circumstances']);
}

/** The numbers and times (ms) of a name's observations. */
export async function timesIn(source: RangeSource, path: string) {
  const range = await findRows(source, path);
  return range === null ? [] : readRange(OBSERVATIONS, source, range, ['seq', 'observed_at', 'signed_at']);
}

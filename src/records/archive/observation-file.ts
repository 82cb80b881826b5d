import { pathOf } from '../hostname.ts';
import { inOrder, Sightings, trackedIn } from '../value-history.ts';
import {
  ObservationRows,
  observationOf,
  type Receipted,
  type StoredObservation,
  StoredObservations,
} from './observation-row.ts';
import { findRows, readRange, readRows } from './parquet-read.ts';
import { type WrittenFile, writeParquet } from './parquet-write.ts';
import type { RangeSource } from './reader.ts';
import { OBSERVATIONS, type SightingRow } from './tables.ts';

/** An observation and its position in the file, from 0: that of its seed. */
export type Archived = StoredObservation & { row: number };

/** Writes observations, which come by path and number, to a new file. */
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

/** The observations of a file in its order, or those of a name (by its path) alone. */
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

/** What receipts and lists need of a name's observations: all but the texts, with their positions. */
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

/** The texts of observations by their positions. */
export function textsIn(source: RangeSource, rowStart: number, rowEnd: number) {
  return readRange(OBSERVATIONS, source, { rowStart, rowEnd }, ['body', 'circumstances']);
}

/** The numbers and times (ms) of a name's observations. */
export async function timesIn(source: RangeSource, path: string) {
  const range = await findRows(source, path);
  return range === null ? [] : readRange(OBSERVATIONS, source, range, ['seq', 'observed_at', 'signed_at']);
}

/**
 * The values that observations, which come by path and number, show in their period: by path, signal and value. Records
 * that are damaged show none.
 */
export async function* sightingsIn(
  observations: Iterable<StoredObservation> | AsyncIterable<StoredObservation>,
): AsyncGenerator<SightingRow> {
  let domain = '';
  let seen = new Sightings();
  const rows = (): SightingRow[] =>
    seen
      .all()
      .sort(inOrder)
      .map((row) => ({ path: pathOf(domain), domain, ...row }));
  for await (const one of observations) {
    if (one.hostname !== domain) {
      yield* rows();
      seen = new Sightings();
      domain = one.hostname;
    }
    const found = observationIn(one);
    if (found !== null) seen.add(trackedIn(found.record), one.observed_at);
  }
  yield* rows();
}

const NO_SEED = new Uint8Array(32);

function observationIn(stored: StoredObservation) {
  try {
    return observationOf({ ...stored, seed: NO_SEED });
  } catch {
    return null;
  }
}

/** How many sightings are sorted by value at once, in memory. */
const PART = 200_000;

/** Sightings by value, in parts that are each sorted: for files that are looked up by value. */
export async function* partsByValue(sightings: AsyncIterable<SightingRow>): AsyncGenerator<SightingRow[]> {
  let part: SightingRow[] = [];
  const sorted = () =>
    part
      .map((row) => ({ row, key: Buffer.from(row.value) }))
      .sort((a, b) => Buffer.compare(a.key, b.key) || (a.row.path < b.row.path ? -1 : 1))
      .map(({ row }) => row);
  for await (const row of sightings) {
    part.push(row);
    if (part.length === PART) {
      yield sorted();
      part = [];
    }
  }
  if (part.length > 0) yield sorted();
}

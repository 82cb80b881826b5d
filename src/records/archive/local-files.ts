import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf } from '../hostname.ts';
import type { ArchiveObject, StoredSeeds } from './manifest.ts';
import { type Seeded, type StoredObservation, StoredObservations } from './observation-row.ts';
import { rangesOf, readRange } from './parquet-read.ts';
import type { RangeSource } from './reader.ts';
import { SEED_LENGTH } from './sources.ts';
import { OBSERVATIONS } from './tables.ts';

/** The most rows and bytes in memory, over all files. */
const ROWS = 4_000;
const BYTES = 32_000_000;
/** Bytes that are read from a file at a time, however many files there are. */
const BYTES_MIN = 400_000;
/** The fewest and most rows read from a file at a time: smaller reads cost more per row. */
const [CHUNK_MIN, CHUNK_MAX] = [100, 500];

export type Row = StoredObservation & Seeded;
/** The position of a row: its object, and its index there, from 0. */
export interface Place {
  key: string;
  row: number;
}

/** An object of observations copied to this machine's disk, with its seeds. */
export interface LocalFile {
  key: string;
  source: RangeSource;
  rows: number;
  /** 32 bytes per row. */
  seeds: RangeSource;
}

/** Copies objects into a folder. `copy` writes an object to a new file and returns its size. */
export async function localFiles(
  folder: string,
  objects: readonly ArchiveObject[],
  copy: (stored: StoredSeeds, file: string, size: number) => Promise<number>,
): Promise<LocalFile[]> {
  const files: LocalFile[] = [];
  for (const [n, object] of objects.entries()) {
    const { key, rows, sha256, seeds } = object;
    const [path, seedsPath] = [join(folder, `${n}.parquet`), join(folder, `${n}.seeds`)];
    const source = localSource(path, sha256, await copy(object, path, object.bytes));
    const size = seeds === null ? 0 : await copy(seeds, seedsPath, rows * SEED_LENGTH);
    files.push({ key, source, rows, seeds: localSource(seedsPath, seeds?.sha256 ?? '', size) });
  }
  return files;
}

/** A local file, which must not change. `sha256` distinguishes it from other files that had its path before. */
export function localSource(path: string, sha256: string, size: number): RangeSource {
  const read: RangeSource['read'] = async (start, end) => {
    const file = await open(path, 'r');
    try {
      const length = Math.max(0, Math.min(size, end) - start);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  };
  return { id: `${path} ${sha256}`, size, read };
}

/**
 * Merges the rows of files that are each sorted by path, time and number. `damaged` is called for rows that cannot be
 * read, which are then skipped; without it, the error is thrown.
 */
export async function* merged(
  files: readonly LocalFile[],
  damaged?: (place: Place & { end: number }, error: unknown) => void,
): AsyncGenerator<Row & { place: Place }> {
  type Head = { row: Row & { place: Place }; path: string; rows: ReturnType<typeof rowsIn> };
  const heads: Head[] = [];
  const advance = async (rows: Head['rows']): Promise<void> => {
    const { value, done } = await rows.next();
    if (done !== true) heads.push({ row: value, path: pathOf(value.hostname), rows });
  };
  const chunk = {
    rows: Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, Math.ceil(ROWS / files.length))),
    bytes: Math.max(BYTES_MIN, BYTES / files.length),
  };
  for (const file of files) await advance(rowsIn(file, chunk, damaged));
  while (heads.length > 0) {
    let least = 0;
    for (const [n, head] of heads.entries()) if (comesBefore(head, heads[least] ?? head)) least = n;
    const [next] = heads.splice(least, 1);
    if (next === undefined) return;
    yield next.row;
    await advance(next.rows);
  }
}

function comesBefore(a: { row: Row; path: string }, b: { row: Row; path: string }): boolean {
  if (a.path !== b.path) return a.path < b.path;
  if (a.row.observed_at !== b.row.observed_at) return a.row.observed_at < b.row.observed_at;
  return a.row.seq < b.row.seq;
}

/** The seeds of rows; fewer if the file ends early. */
function secretsIn({ read, size }: RangeSource, rowStart: number, rowEnd: number): Promise<Uint8Array> {
  const [start, end] = [rowStart, rowEnd].map((row) => Math.min(size, row * SEED_LENGTH)) as [number, number];
  return start === end ? Promise.resolve(new Uint8Array()) : read(start, end);
}

async function* rowsIn(
  { key, source, rows, seeds }: LocalFile,
  chunk: { rows: number; bytes: number },
  damaged: (place: Place & { end: number }, error: unknown) => void = (_, error) => {
    throw error;
  },
): AsyncGenerator<Row & { place: Place }> {
  const stored = new StoredObservations();
  let next = 0;
  try {
    for await (const range of rangesOf(source, chunk)) {
      const { rowStart } = range;
      if (rowStart >= rows) break;
      next = Math.min(rows, range.rowEnd);
      const part = await readRange(OBSERVATIONS, source, { rowStart, rowEnd: next }).catch((error: unknown) => {
        damaged({ key, row: rowStart, end: next }, error);
        return [];
      });
      const secrets = await secretsIn(seeds, rowStart, next);
      for (const row of part) {
        const at = (row.row - rowStart) * SEED_LENGTH;
        let read: StoredObservation;
        try {
          if (row.path !== pathOf(row.domain)) throw new TypeError('its path is not that of its domain');
          read = stored.storedOf(row);
        } catch (error) {
          damaged({ key, row: row.row, end: row.row + 1 }, error);
          continue;
        }
        yield { ...read, seed: secrets.slice(at, at + SEED_LENGTH), place: { key, row: row.row } };
      }
    }
    if (next < rows) throw new RangeError(`the file ends after ${next} rows`);
  } catch (error) {
    damaged({ key, row: next, end: rows }, error);
  }
}

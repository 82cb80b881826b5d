import { zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetReadObjects,
  rowIndex,
} from 'hyparquet';
import { LRUCache } from 'lru-cache';
import type { RangeSource } from './reader.ts';
import type { ArchiveTable } from './tables.ts';

/** What is read at first of an unknown file: most footers are shorter. */
const FOOTER = 64_000;
/** Footers in memory, in bytes of the files; parsed they are several times as large. */
const FOOTERS_MAX = 8_000_000;

const footers = new LRUCache<string, FileMetaData>({
  maxSize: FOOTERS_MAX,
  sizeCalculation: ({ metadata_length }) => metadata_length,
});

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PARSERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: Number,
  // A byte order mark is a part of the text.
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && DECODER.decode(bytes),
};

/** The largest page that is expanded, in bytes: pages are cut at an eighth of a megabyte, but for a longer value. */
const PAGE_MAX = 64_000_000;

/** A position in a file: the number of a row, from 0, with what it holds. */
export type Positioned<Row> = Row & { row: number };

/** How many rows are read at once: merges read the files of a month side by side. */
const BATCH = 1_000;

/** How many rows a file says that it has. */
export async function rowCount(source: RangeSource): Promise<number> {
  return Number((await footerOf(source)).num_rows);
}

/** The rows of a file, in its order, with all columns or some, `batch` of which are in memory at once. */
export async function* readRows<Row extends object, Name extends keyof Row & string = keyof Row & string>(
  table: ArchiveTable<Row>,
  source: RangeSource,
  names?: readonly Name[],
  batch = BATCH,
): AsyncGenerator<Positioned<Pick<Row, Name>>> {
  const metadata = await footerOf(source);
  for (let rowStart = 0; rowStart < metadata.num_rows; rowStart += batch) {
    const rowEnd = Math.min(rowStart + batch, Number(metadata.num_rows));
    yield* await readRange(table, source, { rowStart, rowEnd }, names);
  }
}

/** The positions of the rows of names, from the first one to the last one; null when there are none. */
export async function findRows(
  source: RangeSource,
  ...paths: string[]
): Promise<{ rowStart: number; rowEnd: number } | null> {
  const found = await parquetReadObjects({
    ...(await optionsOf(source)),
    columns: ['path'],
    filter: { path: { $in: paths } },
    ...{ useBloomFilters: true, usePageIndex: true, useOffsetIndex: true, includeRowIndex: true },
  });
  const first = found[0]?.[rowIndex];
  const last = found.at(-1)?.[rowIndex];
  return first === undefined || last === undefined ? null : { rowStart: first, rowEnd: last + 1 };
}

/** Rows by their positions, with all columns or some. */
export async function readRange<Row extends object, Name extends keyof Row & string = keyof Row & string>(
  { columns }: ArchiveTable<Row>,
  source: RangeSource,
  range: { rowStart: number; rowEnd: number },
  names?: readonly Name[],
): Promise<Positioned<Pick<Row, Name>>[]> {
  const rows = await parquetReadObjects({
    ...(await optionsOf(source)),
    ...range,
    ...(names === undefined ? {} : { columns: [...names] }),
    useOffsetIndex: true,
  });
  const big = columns.flatMap(({ name, element: { type, converted_type } }) =>
    type === 'INT64' && converted_type === undefined ? [name] : [],
  );
  return rows.map((row, index) => {
    for (const name of big) if (name in row) row[name] = Number(row[name]);
    for (const name in row) row[name] ??= null;
    return { ...row, row: range.rowStart + index } as Positioned<Pick<Row, Name>>;
  });
}

async function optionsOf(source: RangeSource) {
  const metadata = await footerOf(source);
  return {
    ...{ file: bufferOf(source), metadata, parsers: PARSERS, utf8: false, geoparquet: false },
    // A few bytes may expand to gigabytes.
    compressors: {
      ZSTD: (bytes: Uint8Array, length: number) =>
        zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, Math.min(length, PAGE_MAX)) }),
    },
  };
}

async function footerOf(source: RangeSource): Promise<FileMetaData> {
  const known = footers.get(source.id);
  if (known !== undefined) return known;
  const options = { initialFetchSize: FOOTER, parsers: PARSERS, geoparquet: false };
  const metadata = await parquetMetadataAsync(bufferOf(source), options);
  footers.set(source.id, metadata);
  return metadata;
}

function bufferOf(source: RangeSource): AsyncBuffer {
  return {
    byteLength: source.size,
    slice: async (start, end = source.size) => {
      const bytes = await source.read(start, end);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    },
  };
}

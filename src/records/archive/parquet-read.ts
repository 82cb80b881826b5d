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
import { sizeText } from '../../shared/size.ts';
import type { RangeSource } from './reader.ts';
import type { ArchiveTable } from './tables.ts';

/** How many bytes at the end of a file are read first: most footers are shorter. */
const FOOTER = 64_000;
/** The most footers cached, by their size in the file, in bytes. Parsed, they take several times as much memory. */
const FOOTERS_MAX = 8_000_000;

const footers = new LRUCache<string, FileMetaData>({
  maxSize: FOOTERS_MAX,
  sizeCalculation: ({ metadata_length }) => metadata_length,
});

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PARSERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: Number,
  // The decoder keeps byte order marks: they are part of the text.
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && DECODER.decode(bytes),
};

/** The largest page to decompress, in bytes. Our writer ends pages at 128 kB, unless one value is longer. */
const PAGE_MAX = 64_000_000;

/** The most that the pages of one read may expand to, in bytes. */
const READ_MAX = 200_000_000;

/** A row with its number in the file, from 0. */
export type Positioned<Row> = Row & { row: number };

/** How much is read at once. Merges read all files of a month side by side. */
const BATCH = { rows: 1_000, bytes: 8_000_000 };

/** The number of rows according to the file's footer. */
export async function rowCount(source: RangeSource): Promise<number> {
  return Number((await footerOf(source)).num_rows);
}

/** The rows of a file in file order, with all columns or only `names`. At most one `batch` is in memory at once. */
export async function* readRows<Row extends object, Name extends keyof Row & string = keyof Row & string>(
  table: ArchiveTable<Row>,
  source: RangeSource,
  names?: readonly Name[],
  batch = BATCH,
): AsyncGenerator<Positioned<Pick<Row, Name>>> {
  for await (const range of rangesOf(source, batch)) yield* await readRange(table, source, range, names);
}

/**
 * Divides the rows of a file into ranges to read: each within a row group, of at most `rows` rows and about `bytes`
 * before compression, because one record may have a megabyte. Throws for a footer that contradicts itself.
 */
export async function* rangesOf(
  source: RangeSource,
  { rows, bytes }: { rows: number; bytes: number },
): AsyncGenerator<{ rowStart: number; rowEnd: number }> {
  const { row_groups: groups, num_rows: all } = await footerOf(source);
  let start = 0;
  for (const { num_rows, columns } of groups) {
    const count = Number(num_rows);
    const end = start + count;
    if (!(count >= 0 && end <= all)) throw new RangeError('its row groups have more rows than it');
    const size = columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0), 0);
    const step = Math.max(1, Math.min(rows, Math.floor((bytes * count) / Math.max(1, size))));
    for (; start < end; start = Math.min(end, start + step))
      yield { rowStart: start, rowEnd: Math.min(end, start + step) };
  }
  if (start < all) throw new RangeError('its row groups have fewer rows than it');
}

/** The range from the first to the last row of any of these names; null when there are none. */
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

/** The rows in a range, with all columns or some. */
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
  let expanded = 0;
  return {
    ...{ file: bufferOf(source), metadata, parsers: PARSERS, utf8: false, geoparquet: false },
    // Compressed pages of a few bytes can expand to gigabytes.
    compressors: {
      ZSTD: (bytes: Uint8Array, length: number) => {
        const page = zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, Math.min(length, PAGE_MAX)) });
        expanded += page.length;
        if (expanded > READ_MAX) throw new RangeError(`these rows expand to more than ${sizeText(READ_MAX)}`);
        return page;
      },
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

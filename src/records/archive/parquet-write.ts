import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import type { ArchiveTable } from './tables.ts';

/** A row group is held in memory. It ends at this many rows, or at this many characters of text by default. */
const ROWS_MAX = 50_000;
export const TEXT_MAX = 8_000_000;
/** The size of a page, in bytes before compression: a look-up reads at least one page per column. */
const PAGE = 128_000;
/** The length to which statistics are cut. At the default of 16 bytes, most names of a domain would look the same. */
const STATISTICS = 256;

/** A finished file. `sha256` in hex. */
export interface WrittenFile {
  rows: number;
  bytes: number;
  sha256: string;
}

/**
 * Writes rows, in the given order, as a Parquet file that DuckDB, ClickHouse, Trino and Spark can read. The file must
 * not exist; it is synced to disk. Blocks its thread while a row group is compressed, for up to a few seconds.
 */
export async function writeParquet<Row extends object>(
  table: ArchiveTable<Row>,
  rows: Iterable<Row> | AsyncIterable<Row>,
  file: string,
  textMax?: number,
): Promise<WrittenFile> {
  const writer = new ParquetFile(table, file, textMax);
  try {
    for await (const row of rows) writer.add(row);
    return writer.end();
  } finally {
    writer.close();
  }
}

/** A Parquet file that is written row by row. `close` leaves the file as it is, and may be called more than once. */
export class ParquetFile<Row extends object> {
  readonly #columns: ArchiveTable<Row>['columns'];
  readonly #textMax: number;
  readonly #writer: FileWriter;
  readonly #parquet: ParquetWriter;
  #group: Row[] = [];
  #text = 0;
  #rows = 0;

  constructor(table: ArchiveTable<Row>, file: string, textMax = TEXT_MAX) {
    this.#columns = table.columns;
    this.#textMax = textMax;
    this.#writer = new FileWriter(file);
    this.#parquet = new ParquetWriter({
      writer: this.#writer,
      schema: schemaOf(table),
      codec: 'ZSTD',
      compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
      statisticsTruncateLength: STATISTICS,
      createdBy: 'broadsheet',
    });
  }

  add(row: Row): void {
    this.#group.push(row);
    this.#rows++;
    for (const { name } of this.#columns) {
      const value: unknown = row[name];
      if (typeof value === 'string') this.#text += value.length;
    }
    if (this.#group.length >= ROWS_MAX || this.#text >= this.#textMax) this.#endGroup();
  }

  #endGroup(): void {
    const group = this.#group;
    if (group.length === 0) return;
    const columnData = this.#columns.map((column): ColumnSource => {
      const { name, element, random, plain, key } = column;
      const isBig = element.type === 'INT64' && element.converted_type === undefined;
      const data = group.map((row) => (isBig ? BigInt(row[name] as number) : (row[name] ?? undefined)));
      return {
        ...{ name, data, columnIndex: key === true, bloomFilter: key === true },
        // Minima and maxima of long texts would only make footers larger.
        statistics: random !== true && plain !== true,
        ...(random === true ? { codec: 'UNCOMPRESSED' } : {}),
        ...(random === true || plain === true ? { encoding: 'PLAIN' } : {}),
      };
    });
    this.#parquet.write({ columnData, rowGroupSize: group.length, pageSize: PAGE });
    this.#group = [];
    this.#text = 0;
  }

  /** Writes the remaining rows, and syncs the file. */
  end(): WrittenFile {
    this.#endGroup();
    this.#parquet.finish();
    return { rows: this.#rows, ...this.#writer.end() };
  }

  close(): void {
    this.#writer.close();
  }
}

function schemaOf<Row>({ columns }: ArchiveTable<Row>): SchemaElement[] {
  const leaves = columns.map(
    ({ name, element, nullable }): SchemaElement => ({
      ...element,
      name,
      repetition_type: nullable === true ? 'OPTIONAL' : 'REQUIRED',
    }),
  );
  return [{ name: 'broadsheet', num_children: leaves.length }, ...leaves];
}

/** Appends to a new file what a row group has written. */
class FileWriter extends ByteWriter {
  readonly #file: number;
  readonly #hash = createHash('sha256');
  #isOpen = true;

  constructor(file: string) {
    super();
    this.#file = openSync(file, 'wx');
  }

  flush(): void {
    const bytes = this.getBytes();
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.index = 0;
  }

  end(): { bytes: number; sha256: string } {
    this.flush();
    fsyncSync(this.#file);
    return { bytes: this.offset, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}

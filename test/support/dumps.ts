import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type AsyncBuffer, parquetReadObjects } from 'hyparquet';
import type { Preview } from '../../src/proof/records/preview.ts';
import { dumpOf } from '../../src/records/dumps.ts';
import type { AppContext } from '../../src/server/context.ts';

/** The rows of a Parquet file, with its columns unchanged. */
export function parquetRows(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const file: AsyncBuffer = {
    byteLength: bytes.length,
    slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
  };
  return parquetReadObjects({ file, compressors: { ZSTD: (part: Uint8Array) => zstdDecompressSync(part) } });
}

/** The lines of a dump's NDJSON file. */
export const ndjsonRows = (bytes: Buffer): Preview[] =>
  gunzipSync(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Every name of an observation in each day's newest dump, by day, from both of its files. */
export async function namesByDay(app: AppContext, folder: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { day } of app.store.records.dumps.days().toReversed()) {
    const entry = dumpOf(app, day);
    if (entry === null) continue;
    const [parquet, ndjson] = entry.files.map(({ name }) => readFileSync(join(folder, name)));
    const rows = parquet === undefined ? [] : await parquetRows(parquet);
    const lines = ndjson === undefined ? [] : ndjsonRows(ndjson);
    const names = lines.map(({ domain }) => domain);
    if (JSON.stringify(rows.map(({ domain }) => domain)) !== JSON.stringify(names)) throw new Error(`${day} differs`);
    found[day] = names;
  }
  return found;
}

/** All bytes of a folder's files, decompressed if possible, so that a text can be searched in them. */
export async function textIn(folder: string): Promise<string> {
  let text = '';
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    text += name;
    if (name.endsWith('.gz')) text += gunzipSync(bytes).toString('utf8');
    else if (name.endsWith('.parquet'))
      text += JSON.stringify(await parquetRows(bytes), (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    // A footer holds the smallest and the largest value.
    text += bytes.toString('latin1');
  }
  return text;
}

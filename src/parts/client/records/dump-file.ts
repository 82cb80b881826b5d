import { decompress } from 'fzstd';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, rowIndex } from 'hyparquet';
import type { Preview } from '../../../proof/records/preview.ts';
import { parseObservation } from '../../../proof/records/receipt.ts';

/** Reads the rows of one name out of a dump's Parquet file, by ranges (protocol 5.11). */

/** How many bytes at the end of a file are read first: most footers are shorter, and small files are read whole. */
const END = 64_000;

/** A file in a dump. */
export interface DumpFile {
  url: string;
  /** Its size, in bytes. */
  bytes: number;
}
export interface Cost {
  requests: number;
  bytes: number;
}

/** Why a file could not be read, as a sentence that begins in lower case. */
export class NotRead extends Error {}

/** The ends of files read so far, by URL: a file's name is never used again for other bytes. */
const ends = new Map<string, { metadata: FileMetaData; start: number; bytes: ArrayBuffer }>();

/** The rows of a name, by its path, oldest first. Adds to `cost`. Throws `NotRead`. */
export async function rowsOf(dump: DumpFile, path: string, cost: Cost, signal: AbortSignal): Promise<Preview[]> {
  const read = (start: number, end: number) => rangeOf(dump, { start, end }, cost, signal);
  let known = ends.get(dump.url);
  if (known === undefined) {
    const start = Math.max(0, dump.bytes - END);
    known = await endOf(dump.bytes, start, await read(start, dump.bytes), read);
    ends.set(dump.url, known);
  }
  const { metadata, start: at, bytes } = known;
  const file: AsyncBuffer = {
    byteLength: dump.bytes,
    slice: (start, end = dump.bytes) => (start >= at ? bytes.slice(start - at, end - at) : read(start, end)),
  };
  const compressors = { ZSTD: (part: Uint8Array, length: number) => decompress(part, new Uint8Array(length)) };
  const options = { file, metadata, compressors, useOffsetIndex: true };
  const found = await parquetReadObjects({
    ...options,
    columns: ['path'],
    filter: { path: { $eq: path } },
    ...{ useBloomFilters: true, usePageIndex: true, includeRowIndex: true },
  });
  const first = found[0]?.[rowIndex];
  if (first === undefined) return [];
  // All rows of a name are adjacent.
  const rows = await parquetReadObjects({ ...options, rowStart: first, rowEnd: first + found.length });
  return rows.map(previewIn);
}

/** The footer of a file, and the bytes before it that were read with it. */
async function endOf(
  size: number,
  at: number,
  bytes: ArrayBuffer,
  read: (start: number, end: number) => Promise<ArrayBuffer>,
) {
  const metadata = await parquetMetadataAsync(
    {
      byteLength: size,
      slice: (start, end = size) => (start >= at ? bytes.slice(start - at, end - at) : read(start, end)),
    },
    { initialFetchSize: size - at },
  );
  return { metadata, start: at, bytes };
}

async function rangeOf(
  { url, bytes: size }: DumpFile,
  { start, end }: { start: number; end: number },
  cost: Cost,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await fetch(url, {
    headers: { range: `bytes=${start}-${end - 1}` },
    credentials: 'omit',
    cache: 'no-store',
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new NotRead('its host does not answer, or does not let this page read it');
  });
  if (response.status === 404) throw new NotRead('it was replaced since this page was opened; reload the page');
  if (response.status === 503) throw new NotRead('it is being made again, as when a name opts out; try again later');
  if (response.status !== 206 && response.status !== 200) throw new NotRead(`its host answered ${response.status}`);
  const total = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
  if (response.status === 206 && total !== undefined && Number(total) !== size)
    throw new NotRead('it has another size than the list says; reload the page');
  const body = await response.arrayBuffer();
  cost.requests++;
  cost.bytes += body.byteLength;
  // A host that does not support ranges responds with the whole file.
  return response.status === 206 ? body : body.slice(start, end);
}

/** The preview in a row, without its prose. */
function previewIn(row: Record<string, unknown>): Preview {
  const { domain, unicode, registrable_domain, seq, observed_at, nameservers, summary, receipt, disclosures } = row;
  const text = String(receipt);
  const shown: Preview['disclosures'] = JSON.parse(String(disclosures));
  const fields = parseObservation(text.slice(0, text.lastIndexOf('\n\n') + 1))?.record_fields ?? 0;
  return {
    ...{ preview: true, signed: false, notice: '', domain: String(domain), unicode: String(unicode) },
    registrable_domain: registrable_domain == null ? null : String(registrable_domain),
    ...{ observed_at: (observed_at as Date).toISOString(), seq: Number(seq) },
    ...{ summary: JSON.parse(String(summary)), nameservers: JSON.parse(String(nameservers)) },
    ...{ disclosures: shown, held_back: { fields: fields - shown.length, how: '' }, receipt: text },
  };
}

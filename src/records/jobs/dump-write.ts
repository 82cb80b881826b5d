import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { type Preview, previewOf } from '../../proof/records/preview.ts';
import { DAY } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { caught, Fault } from '../../shared/fault.ts';
import { DUMP, dumpRow } from '../archive/dump-row.ts';
import { localFiles, merged, type Row } from '../archive/local-files.ts';
import type { StoredSeeds } from '../archive/manifest.ts';
import { observationOf } from '../archive/observation-row.ts';
import { type WrittenFile, writeParquet } from '../archive/parquet-write.ts';
import { timesBy } from '../archive/reads.ts';
import { copyThrough } from '../archive/sources.ts';
import { pathOf } from '../hostname.ts';

/** The most characters of text in a row group. Large groups make a short footer, which every look-up reads. */
const TEXT_MAX = 20_000_000;
/** How many hostnames are read at a time. */
const HOSTS = 500;

/** The files of a dump on this machine's disk. */
export interface WrittenDump {
  rows: number;
  parquet: WrittenFile & { path: string };
  ndjson: { path: string; bytes: number; sha256: string };
}

/** Writes the public part of the day that begins at `start` (ms) to two new files in a folder, row by row. */
export async function writeDump(app: AppContext, start: number, folder: string): Promise<WrittenDump> {
  const [parquet, ndjson] = [join(folder, 'dump.parquet'), join(folder, 'dump.ndjson.gz')];
  const hash = createHash('sha256');
  let bytes = 0;
  const gzip = createGzip();
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const piped = pipeline(gzip, hashed, createWriteStream(ndjson, { flags: 'wx' }));
  piped.catch(() => {});
  const rows = async function* () {
    for await (const preview of previewsOf(app, start, folder)) {
      if (!gzip.write(`${JSON.stringify(preview)}\n`)) await Promise.race([once(gzip, 'drain'), piped]);
      yield dumpRow(preview);
    }
  };
  try {
    const written = await writeParquet(DUMP, rows(), parquet, TEXT_MAX);
    gzip.end();
    await piped;
    const file = { path: ndjson, bytes, sha256: hash.digest('hex') };
    return { rows: written.rows, parquet: { ...written, path: parquet }, ndjson: file };
  } finally {
    gzip.destroy();
  }
}

/** Previews of a day's observations of all hostnames that the operator watches, by path, time and number. */
async function* previewsOf(app: AppContext, start: number, folder: string): AsyncGenerator<Preview> {
  const { records } = app.store;
  const time = timesBy(app.store.desk.corrections('records', ''));
  const archived = archivedOf(app, start, folder);
  const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
  let head = await archived.next();
  for (let after = ''; ; ) {
    const hosts = records.dumps.hosts(after, HOSTS);
    for (const { id, path } of hosts) {
      while (head.done !== true && pathOf(head.value.hostname) < path) head = await archived.next();
      const own = new Map<number, { at: number; preview: Preview }>();
      while (head.done !== true && pathOf(head.value.hostname) === path) {
        const row = head.value;
        own.set(row.seq, { at: time(row), preview: previewOf(observationOf(row)) });
        head = await archived.next();
      }
      for (const { seq, at } of records.dumps.observedOn(id, start)) {
        if (own.has(seq)) continue;
        const observation = caught(Fault, () => records.observationBySeq(id, seq));
        // Values cut by an older version make these unreadable; the operator has accepted that.
        if (observation instanceof Fault && !damaged.has(seq)) throw observation;
        if (observation !== null && !(observation instanceof Fault))
          own.set(seq, { at, preview: previewOf(observation) });
      }
      const inOrder = [...own].sort(([a, one], [b, two]) => one.at - two.at || a - b);
      for (const [, { preview }] of inOrder) yield preview;
    }
    const last = hosts.at(-1);
    if (last === undefined) return;
    after = last.path;
    await turn();
  }
}

/** A day's archived observations of all hostnames. */
async function* archivedOf(app: AppContext, start: number, folder: string): AsyncGenerator<Row> {
  const { archive: place, store } = app;
  const corrections = store.desk.corrections('records', '');
  // A later correction of the clock moves observations to earlier times, but not the times listed for their objects.
  const end = corrections.length === 0 ? start + DAY : Number.MAX_SAFE_INTEGER;
  const objects = store.records.archive.objects().filter(({ kind, rows, first_at, last_at }) => {
    const isOfRows = (kind === 'observations' || kind === 'observations_open') && rows > 0;
    return isOfRows && first_at < end && last_at >= start;
  });
  if (objects.length === 0) return;
  if (place === null) {
    throw new Fault('unavailable', 'observations of this day are in the archive; set ARCHIVE_URL to it');
  }
  const copy = async (stored: StoredSeeds, file: string, size: number): Promise<number> => {
    if ((await copyThrough(place, stored, size, file)) === stored.sha256) return size;
    throw new Fault(
      'unavailable',
      `${stored.key} in ${place.name} is not what its manifest names; check it with audit --archive`,
    );
  };
  const time = timesBy(corrections);
  for await (const row of merged(await localFiles(folder, objects, copy))) {
    const at = time(row);
    if (at >= start && at < start + DAY) yield row;
  }
}

import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openAsBlob, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '../../proof/narrow.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { ObjectHead } from '../../shared/storage/bucket.ts';
import { folderOf, type TableKind } from '../archive/layout.ts';
import { type LocalFile, localFiles, localSource, type Row } from '../archive/local-files.ts';
import type { ArchiveObject, StoredSeeds, Tombstone } from '../archive/manifest.ts';
import { type ObservationRow, ObservationRows } from '../archive/observation-row.ts';
import { ParquetFile, TEXT_MAX, writeParquet } from '../archive/parquet-write.ts';
import { copyThrough, readThrough, SEED_LENGTH } from '../archive/sources.ts';
import { type Extent, OBSERVATIONS, OBSERVED, type Shape } from '../archive/tables.ts';

/** The largest object read into memory whole, in bytes. */
const OBJECT_MAX = 1_000_000_000;

/** An object that no manifest lists yet. */
export type Draft = Pick<ArchiveObject, 'period' | 'bucket'> & { kind: TableKind };

/** Writes and reads the archive's objects. Every upload is read back before it counts as stored. */
export class ArchiveObjects {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #assertHeld: () => void;
  readonly #work: string;

  /** `assertHeld` throws when this process has lost the lease. */
  constructor(app: AppContext, place: ArchivePlace, assertHeld: () => void) {
    this.#app = app;
    this.#place = place;
    this.#assertHeld = assertHeld;
    this.#work = join(app.settings.dataDir, `archive.${process.pid}`);
  }

  /** Copies objects of observations to this machine's disk, until `clear`. */
  local(objects: readonly ArchiveObject[]): Promise<LocalFile[]> {
    return localFiles(this.newWork(), objects, (one, file, size) => this.#copy(one, file, size));
  }

  /** Copies an object to a new file. Throws `conflict` when it is gone or has different bytes. */
  async #copy(stored: StoredSeeds, path: string, size: number): Promise<number> {
    if ((await copyThrough(this.#place, stored, size, path)) !== stored.sha256) throw await this.#wrong(stored);
    return size;
  }

  async #wrong({ key, etag }: StoredSeeds): Promise<Fault> {
    const what = (await this.#place.etag(key)) === null ? 'is gone' : 'has other bytes';
    return new Fault('conflict', `${key} ${what} in ${this.#place.name}; restore its version ${etag}`);
  }

  /** Removes the working folder with its copies. */
  clear(): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /** Uploads rows as an object, with their seeds as another, and reads both back. */
  async put(draft: Draft, rows: AsyncIterable<Row>, generation: number): Promise<ArchiveObject> {
    const file = join(this.newWork(), 'seeds.bin');
    const seeds = new SeedFile(file);
    const lines = new ObservationRows();
    const columns = async function* () {
      for await (const row of rows) {
        seeds.add(row.seed);
        yield lines.rowOf(row);
      }
    };
    let object: ArchiveObject;
    let digest: string;
    try {
      object = await this.putTable(draft, OBSERVED, columns(), generation);
      digest = seeds.end();
    } finally {
      seeds.close();
    }
    const content = await openAsBlob(file);
    const stored = await this.#upload(`seeds/bucket=${draft.bucket}/`, 'bin', content, generation, digest);
    rmSync(file);
    return { ...object, seeds: stored };
  }

  /**
   * Splits rows, sorted by path, time and number, into local files: one per part, in the same order. Rows of no part go
   * into the first.
   */
  async divided(rows: AsyncIterable<Row>, parts: readonly string[], partOf: (row: Row) => string) {
    const open = new Map(
      parts.map((part) => [part, new DividedFile(join(this.newWork(), `part-${part}`), TEXT_MAX / parts.length)]),
    );
    try {
      for await (const row of rows) present(open.get(partOf(row)) ?? open.get(parts[0] ?? '')).add(row);
      return [...open].map(([part, file]) => ({ part, file: file.end() }));
    } finally {
      for (const file of open.values()) file.close();
    }
  }

  /** Uploads rows of a table as an object without seeds. */
  async putTable<R extends { path: string }>(
    draft: Draft,
    { table, extent }: Shape<R>,
    rows: AsyncIterable<R> | Iterable<R>,
    generation: number,
  ): Promise<ArchiveObject> {
    const ranges = new Ranges();
    const noted = async function* () {
      for await (const row of rows) {
        ranges.note(row.path, extent(row));
        yield row;
      }
    };
    // Not `copied`, the name of a copy that may be read at the same time.
    const file = join(this.newWork(), 'written.parquet');
    const written = await writeParquet(table, noted(), file);
    // The folder is part of the key: two objects with equal rows, or none, must not share one.
    const open = folderOf(draft.kind, draft.period, draft.bucket);
    const folder = draft.kind === 'observations_open' ? open : `staging/${open}`;
    const stored = await this.#upload(`${folder}/`, 'parquet', await openAsBlob(file), generation, written.sha256);
    rmSync(file);
    const { kind, period, bucket } = draft;
    return {
      ...{ kind, period, bucket, ...stored, bytes: written.bytes, ...ranges.said() },
      ...{ seeds: null, publish: null, generation },
    };
  }

  /** Uploads the tombstones of erased observations. */
  async putTombstones(stones: Tombstone[], generation: number): Promise<ArchiveObject> {
    const bytes = Buffer.from(stones.map(({ seq, hash }) => `${seq} ${Buffer.from(hash).toString('hex')}\n`).join(''));
    const stored = await this.#upload('tombstones/', 'txt', new Blob([bytes]), generation, hex(bytes));
    const [first_seq, last_seq] = [stones[0]?.seq ?? 0, stones.at(-1)?.seq ?? 0];
    return {
      ...{ ...stored, kind: 'tombstones', period: '', bucket: '', bytes: bytes.length, rows: stones.length },
      ...{ first_seq, last_seq, first_at: 0, last_at: 0, first_path: '', last_path: '' },
      ...{ seeds: null, publish: null, generation },
    };
  }

  /** Uploads under a unique key, made of the generation and the content's hash. */
  async #upload(
    folder: string,
    ending: string,
    content: Blob,
    generation: number,
    digest: string,
  ): Promise<StoredSeeds> {
    const key = `${folder}${generation}-${digest.slice(0, 16)}.${ending}`;
    this.#assertHeld();
    // Recorded as an orphan until a manifest lists it.
    this.#app.store.database.transact(() => this.#app.store.records.archive.leave(key, this.#app.clock.now()));
    const etag = await this.#place.put(key, content);
    const stored = { key, etag: etag ?? '', sha256: digest };
    await this.requireStored(stored, content.size);
    return stored;
  }

  /** Reads an object back: an upload counts only when its bytes can be read. */
  async requireStored(stored: StoredSeeds, size: number): Promise<void> {
    if ((await readThrough(this.#place, stored, size)) === stored.sha256) return;
    const message = `${this.#place.name} gave other bytes for ${stored.key} than were uploaded; check what is between it and this machine`;
    throw new Fault('unavailable', message);
  }

  /** Whether the object at `key` has the bytes of an object in the manifest. */
  async isCopied(object: ArchiveObject, key: string, there: ObjectHead): Promise<boolean> {
    if (there.size !== object.bytes) return false;
    return (await readThrough(this.#place, { key, etag: there.etag }, there.size)) === object.sha256;
  }

  /** The content of an object in the manifest, kept on disk until `clear`. Throws as `read`. */
  async content(object: ArchiveObject): Promise<Blob> {
    const file = join(this.newWork(), 'copied');
    rmSync(file, { force: true });
    await this.#copy(object, file, object.bytes);
    return openAsBlob(file);
  }

  /** The bytes of an object in the manifest. Throws `conflict` when it is gone or has different bytes. */
  async read(object: StoredSeeds): Promise<Uint8Array> {
    const found = await this.#place.get(object.key, OBJECT_MAX);
    if (found !== null && hex(found.bytes) === object.sha256) return found.bytes;
    throw await this.#wrong(object);
  }

  /** The working folder, for copies and files to upload. Created if missing. */
  newWork(): string {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    return this.#work;
  }
}

/** Computes the ranges that the manifest states about rows. */
class Ranges {
  #said = { rows: 0, first_seq: 0, last_seq: 0, first_at: 0, last_at: 0, first_path: '', last_path: '' };

  note(path: string, { seq, first_at, last_at }: Extent): void {
    const said = this.#said;
    if (said.rows === 0) {
      this.#said = { rows: 1, first_seq: seq, last_seq: seq, first_at, last_at, first_path: path, last_path: path };
      return;
    }
    said.rows++;
    said.first_seq = Math.min(said.first_seq, seq);
    said.last_seq = Math.max(said.last_seq, seq);
    said.first_at = Math.min(said.first_at, first_at);
    said.last_at = Math.max(said.last_at, last_at);
    if (path < said.first_path) said.first_path = path;
    if (path > said.last_path) said.last_path = path;
  }

  said() {
    return this.#said;
  }
}

/** A file with some of the rows, and their seeds. */
class DividedFile {
  readonly #path: string;
  readonly #lines = new ObservationRows();
  readonly #rows: ParquetFile<ObservationRow>;
  readonly #seeds: SeedFile;

  constructor(path: string, textMax: number) {
    this.#path = path;
    this.#rows = new ParquetFile(OBSERVATIONS, `${path}.parquet`, textMax);
    this.#seeds = new SeedFile(`${path}.seeds`);
  }

  add(row: Row): void {
    this.#rows.add(this.#lines.rowOf(row));
    this.#seeds.add(row.seed);
  }

  end(): LocalFile {
    const { rows, bytes, sha256 } = this.#rows.end();
    const seeds = localSource(`${this.#path}.seeds`, this.#seeds.end(), rows * SEED_LENGTH);
    return { key: this.#path, source: localSource(`${this.#path}.parquet`, sha256, bytes), rows, seeds };
  }

  close(): void {
    this.#rows.close();
    this.#seeds.close();
  }
}

/** A new file of concatenated seeds. */
class SeedFile {
  readonly #file: number;
  readonly #hash = createHash('sha256');
  readonly #buffer = Buffer.alloc(1_024 * SEED_LENGTH);
  #length = 0;
  #isOpen = true;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  add(seed: Uint8Array): void {
    if (this.#length === this.#buffer.length) this.#flush();
    this.#buffer.set(seed, this.#length);
    this.#length += SEED_LENGTH;
  }

  #flush(): void {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#length = 0;
  }

  /** Returns the SHA-256 in hex. */
  end(): string {
    this.#flush();
    this.close();
    return this.#hash.digest('hex');
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}

/** The SHA-256 of bytes, in hex. */
export function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

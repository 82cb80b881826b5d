import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { StoredObject } from '../../shared/storage/bucket.ts';
import { folderOf, type TableKind } from '../archive/layout.ts';
import { type LocalFile, localFiles, type Row } from '../archive/local-files.ts';
import type { ArchiveObject, StoredSeeds, Tombstone } from '../archive/manifest.ts';
import { ObservationRows } from '../archive/observation-row.ts';
import { writeParquet } from '../archive/parquet-write.ts';
import { SEED_LENGTH } from '../archive/sources.ts';
import { type Extent, OBSERVED, type Shape } from '../archive/tables.ts';

/** The largest object that is read whole, in bytes. */
const OBJECT_MAX = 1_000_000_000;

/** An object that is not in a manifest yet. */
export type Draft = Pick<ArchiveObject, 'period' | 'bucket'> & { kind: TableKind };

/** Writes objects of the archive, and reads them: every upload is read back before it counts. */
export class ArchiveObjects {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #assertHeld: () => void;
  readonly #work: string;

  /** `assertHeld` throws when this process may not go on. */
  constructor(app: AppContext, place: ArchivePlace, assertHeld: () => void) {
    this.#app = app;
    this.#place = place;
    this.#assertHeld = assertHeld;
    this.#work = join(app.settings.dataDir, `archive.${process.pid}`);
  }

  /** Copies objects of observations to this disk, until `clear`. */
  local(objects: readonly ArchiveObject[]): Promise<LocalFile[]> {
    return localFiles(this.newWork(), objects, (one) => this.read(one));
  }

  /** Removes what was copied or written here. */
  clear(): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /** Writes rows as an object of its own, with their seeds, and reads both back. */
  async put(draft: Draft, rows: AsyncIterable<Row>, generation: number): Promise<ArchiveObject> {
    const seeds = new Seeds();
    const lines = new ObservationRows();
    const columns = async function* () {
      for await (const row of rows) {
        seeds.add(row.seed);
        yield lines.rowOf(row);
      }
    };
    const object = await this.putTable(draft, OBSERVED, columns(), generation);
    const stored = await this.#upload(`seeds/bucket=${draft.bucket}/`, 'bin', seeds.bytes(), generation);
    return { ...object, seeds: stored };
  }

  /** Writes rows of a table as an object, without seeds. */
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
    // No name of a copy that is read meanwhile.
    const file = join(this.newWork(), 'written.parquet');
    await writeParquet(table, noted(), file);
    const bytes = readFileSync(file);
    rmSync(file);
    // Equal rows, as none, are not the same object.
    const open = folderOf(draft.kind, draft.period, draft.bucket);
    const folder = draft.kind === 'observations_open' ? open : `staging/${open}`;
    const stored = await this.#upload(`${folder}/`, 'parquet', bytes, generation);
    const { kind, period, bucket } = draft;
    return {
      ...{ kind, period, bucket, ...stored, bytes: bytes.length, ...ranges.said() },
      ...{ seeds: null, publish: null, generation },
    };
  }

  /** Writes what erased observations leave. */
  async putTombstones(stones: Tombstone[], generation: number): Promise<ArchiveObject> {
    const bytes = Buffer.from(stones.map(({ seq, hash }) => `${seq} ${Buffer.from(hash).toString('hex')}\n`).join(''));
    const stored = await this.#upload('tombstones/', 'txt', bytes, generation);
    const [first_seq, last_seq] = [stones[0]?.seq ?? 0, stones.at(-1)?.seq ?? 0];
    return {
      ...{ ...stored, kind: 'tombstones', period: '', bucket: '', bytes: bytes.length, rows: stones.length },
      ...{ first_seq, last_seq, first_at: 0, last_at: 0, first_path: '', last_path: '' },
      ...{ seeds: null, publish: null, generation },
    };
  }

  /** Uploads under a key that nothing else ever has: that of its generation and its content. */
  async #upload(folder: string, ending: string, bytes: Uint8Array, generation: number): Promise<StoredSeeds> {
    const digest = hex(bytes);
    const key = `${folder}${generation}-${digest.slice(0, 16)}.${ending}`;
    this.#assertHeld();
    // Until a manifest names it, it is left behind.
    this.#app.store.database.transact(() => this.#app.store.records.archive.leave(key, this.#app.clock.now()));
    const etag = await this.#place.put(key, bytes);
    const stored = { key, etag: etag ?? '', sha256: digest };
    await this.requireStored(stored);
    return stored;
  }

  /** Reads an object back: an upload is believed when its bytes are there. */
  async requireStored({ key, etag, sha256: digest }: StoredSeeds): Promise<void> {
    const back = await this.find(key);
    if (back !== null && back.etag === etag && hex(back.bytes) === digest) return;
    const message = `${this.#place.name} gave other bytes for ${key} than were uploaded; check what is between it and this machine`;
    throw new Fault('unavailable', message);
  }

  /** An object whatever its bytes are; null when it is not there. */
  find(key: string): Promise<StoredObject | null> {
    return this.#place.get(key, OBJECT_MAX);
  }

  /** The bytes of an object that a manifest names. Throws `conflict` when it is gone or has others. */
  async read(object: Pick<ArchiveObject, 'key' | 'etag' | 'sha256'>): Promise<Uint8Array> {
    const found = await this.find(object.key);
    if (found !== null && hex(found.bytes) === object.sha256) return found.bytes;
    const what = found === null ? 'is gone' : 'has other bytes';
    throw new Fault('conflict', `${object.key} ${what} in ${this.#place.name}; restore its version ${object.etag}`);
  }

  /** The folder for what is copied or written here. */
  newWork(): string {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    return this.#work;
  }
}

/** What the manifest says of rows. */
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

/** Seeds, one after the other. */
class Seeds {
  #bytes = Buffer.alloc(1_024 * SEED_LENGTH);
  #length = 0;

  add(seed: Uint8Array): void {
    if (this.#length === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
    this.#bytes.set(seed, this.#length);
    this.#length += SEED_LENGTH;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** The SHA-256 of bytes, in hex. */
export function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

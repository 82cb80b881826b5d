import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { StoredObject } from '../../shared/storage/bucket.ts';
import { folderOf } from '../archive/layout.ts';
import { type LocalFile, localFiles, type Row } from '../archive/local-files.ts';
import type { ArchiveObject, StoredSeeds, Tombstone } from '../archive/manifest.ts';
import { ObservationRows } from '../archive/observation-row.ts';
import { writeParquet } from '../archive/parquet-write.ts';
import { SEED_LENGTH } from '../archive/sources.ts';
import { OBSERVATIONS } from '../archive/tables.ts';
import { pathOf } from '../hostname.ts';

/** The largest object that is read whole, in bytes. */
const OBJECT_MAX = 1_000_000_000;

/** An object that is not in a manifest yet. */
type Draft = Pick<ArchiveObject, 'period' | 'bucket'> & { kind: Exclude<ArchiveObject['kind'], 'tombstones'> };

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
    return localFiles(this.#newWork(), objects, (one) => this.read(one));
  }

  /** Removes what was copied or written here. */
  clear(): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /** Writes rows as an object of its own, with their seeds, and reads both back. */
  async put(draft: Draft, rows: AsyncIterable<Row>, generation: number): Promise<ArchiveObject> {
    const ranges = new Ranges();
    const lines = new ObservationRows();
    const columns = async function* () {
      for await (const row of rows) {
        ranges.note(row);
        yield lines.rowOf(row);
      }
    };
    // No name of a copy that is read meanwhile.
    const file = join(this.#newWork(), 'written.parquet');
    await writeParquet(OBSERVATIONS, columns(), file);
    const bytes = readFileSync(file);
    rmSync(file);
    // Equal rows, as none, are not the same object.
    const open = folderOf(draft.kind, draft.period, draft.bucket);
    const folder = draft.kind === 'observations' ? `staging/${open}` : open;
    const { key, ...stored } = await this.#upload(`${folder}/`, 'parquet', bytes, generation);
    const seeds = await this.#upload(`seeds/bucket=${draft.bucket}/`, 'bin', ranges.seeds(), generation);
    return { ...draft, key, ...stored, bytes: bytes.length, ...ranges.said(), seeds, publish: null, generation };
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

  #newWork(): string {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    return this.#work;
  }
}

/** What the manifest says of rows, and their seeds. */
class Ranges {
  #seeds = Buffer.alloc(1_024 * SEED_LENGTH);
  #said = {
    ...{ rows: 0, first_seq: 0, last_seq: 0, first_at: 0, last_at: 0, first_path: '', last_path: '' },
  };

  note({ seq, observed_at, hostname, seed }: Row): void {
    const said = this.#said;
    const path = pathOf(hostname);
    if (said.rows === 0) {
      this.#said = {
        ...{ rows: 0, first_seq: seq, last_seq: seq, first_at: observed_at, last_at: observed_at },
        first_path: path,
        last_path: path,
      };
    }
    const at = this.#said.rows * SEED_LENGTH;
    if (at === this.#seeds.length) this.#seeds = Buffer.concat([this.#seeds, Buffer.alloc(at)]);
    this.#seeds.set(seed, at);
    const own = this.#said;
    own.rows++;
    own.first_seq = Math.min(own.first_seq, seq);
    own.last_seq = Math.max(own.last_seq, seq);
    own.first_at = Math.min(own.first_at, observed_at);
    own.last_at = Math.max(own.last_at, observed_at);
    own.last_path = path;
  }

  said() {
    return this.#said;
  }

  seeds(): Uint8Array {
    return this.#seeds.subarray(0, this.#said.rows * SEED_LENGTH);
  }
}

/** The SHA-256 of bytes, in hex. */
export function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

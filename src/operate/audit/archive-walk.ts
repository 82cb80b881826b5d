import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { receiptHashText } from '../../proof/log/leaf.ts';
import { receiptHashLeaf } from '../../proof/log/logged-entries.ts';
import { type LocalFile, localFiles, merged, type Place, type Row } from '../../records/archive/local-files.ts';
import {
  type ArchiveObject,
  isCopy,
  type Manifest,
  type StoredSeeds,
  tombstonesIn,
} from '../../records/archive/manifest.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';

/** The largest object that is read, in bytes. */
const OBJECT_MAX = 1_000_000_000;
/** The most faults of one kind that are listed. */
const LISTED_MAX = 100;
/** The smallest possible row, in bytes: its signature cannot be compressed. */
const ROW_MIN = 64;
/** Observation numbers per page of the bitmap. */
const PAGE = 1_024;

/** Receives the content of an archive. Its faults name the object and the row. */
export interface ArchiveVisitor {
  /** An observation. Those of a host come one after the other, oldest first. */
  observation(row: Row, place: Place): void;
  /** Called after the last observation of a host. */
  endHost(hostname: string): void;
  /** The log's entry for an observation, or for one that was erased. */
  leaf(where: string, seq: number, entry: string): void;
}

export interface Walk {
  place: ArchivePlace;
  manifest: Manifest;
  /** An empty folder for copies of objects. */
  work: string;
  faults: string[];
  progress: Progress['step'];
}

/**
 * Reads every object that a manifest names, and visits the rows. Every observation number must occur once. Appends to
 * `faults`. Returns the number of observations.
 */
export async function walkArchive(walk: Walk, visitor: ArchiveVisitor): Promise<number> {
  return new ArchiveWalk(walk, visitor).run();
}

class ArchiveWalk {
  readonly #walk: Walk;
  readonly #visitor: ArchiveVisitor;
  /** A bitmap of the numbers of observations and tombstones that were found, by pages, so that gaps take no memory. */
  readonly #found = new Map<number, Uint8Array>();
  #numbers = 0;
  /** Whether the objects have at least as many rows as the manifest says that there are observations. */
  readonly #isWhole: boolean;
  #observations = 0;

  constructor(walk: Walk, visitor: ArchiveVisitor) {
    this.#walk = walk;
    this.#visitor = visitor;
    const { objects, said } = walk.manifest;
    const rows = objects.reduce((sum, object) => sum + (isCopy(object) ? 0 : object.rows), 0);
    this.#isWhole = rows >= said.through;
    if (!this.#isWhole)
      walk.faults.push(`manifest.json: it covers ${said.through} observations, and its objects have ${rows} rows`);
  }

  async run(): Promise<number> {
    const { objects } = this.#walk.manifest;
    const rows = objects.filter((object) => object.kind !== 'tombstones' && !isCopy(object));
    // All files of a name are in one group.
    for (const [bucket, own] of Map.groupBy(rows, (object) => object.bucket.slice(0, 1)))
      await this.#group(bucket, own);
    for (const object of objects) {
      if (object.kind === 'tombstones') await this.#tombstones(object);
      else if (isCopy(object)) await reported(async () => void (await this.#read(object)));
    }
    if (this.#isWhole) this.#missing();
    return this.#observations;
  }

  async #group(bucket: string, objects: readonly ArchiveObject[]): Promise<void> {
    const { work, faults, progress, manifest } = this.#walk;
    const files: LocalFile[] = [];
    for (const [n, object] of objects.entries()) {
      const folder = join(work, `${bucket}.${n}`);
      mkdirSync(folder);
      await reported(async () => {
        const [file] = await localFiles(folder, [object], (stored, path) => this.#copy(stored, path));
        const { key, rows, bytes } = object;
        const size = file?.source.size ?? 0;
        if (size !== bytes) faults.push(`${key}: it has ${size} bytes, and the manifest says ${bytes}`);
        if (file === undefined || rows < 0 || rows > size / ROW_MIN)
          faults.push(`${key}: it cannot have ${rows} rows, as the manifest says`);
        else files.push(file);
      });
    }
    const damaged = ({ key, row, end }: Place & { end: number }, error: unknown): void => {
      const what = end - row === 1 ? `row ${row}` : `rows ${row} to ${end - 1}`;
      faults.push(`${key}, ${what}: cannot be read (${messageOf(error)})`);
    };
    let host: string | null = null;
    for await (const { place, ...row } of merged(files, damaged)) {
      if (host !== null && host !== row.hostname) this.#visitor.endHost(host);
      host = row.hostname;
      const where = `${place.key}, row ${place.row}`;
      this.#note(row.seq, where);
      this.#visitor.leaf(where, row.seq, receiptHashLeaf(row.receipt));
      this.#visitor.observation(row, place);
      this.#observations++;
      progress('audit the archive', this.#observations, manifest.said.through, host);
    }
    if (host !== null) this.#visitor.endHost(host);
    for (const [n] of objects.entries()) rmSync(join(work, `${bucket}.${n}`), { recursive: true, force: true });
  }

  async #tombstones(object: ArchiveObject): Promise<void> {
    await reported(async () => {
      const bytes = await this.#read(object);
      try {
        for (const [n, { seq, hash }] of tombstonesIn(bytes).entries()) {
          const where = `${object.key}, line ${n + 1}`;
          this.#note(seq, where);
          this.#visitor.leaf(where, seq, receiptHashText(`sha256:${Buffer.from(hash).toString('hex')}`));
        }
      } catch (error) {
        this.#walk.faults.push(`${object.key}: ${messageOf(error)}`);
      }
    });
  }

  /** Records that a number was found. */
  #note(seq: number, where: string): void {
    const { faults, manifest } = this.#walk;
    if (!Number.isSafeInteger(seq) || seq < 1 || seq > manifest.said.through) {
      faults.push(`${where}: seq ${seq} is not one that the manifest covers`);
      return;
    }
    if (this.#isFound(seq)) {
      faults.push(`${where}: seq ${seq} occurs a second time`);
      return;
    }
    const page = Math.floor(seq / PAGE);
    const bits = this.#found.get(page) ?? new Uint8Array(PAGE / 8);
    this.#found.set(page, bits);
    const at = (seq % PAGE) >> 3;
    bits[at] = (bits[at] ?? 0) | (1 << (seq % 8));
    this.#numbers++;
  }

  #isFound(seq: number): boolean {
    const bits = this.#found.get(Math.floor(seq / PAGE));
    return (((bits?.[(seq % PAGE) >> 3] ?? 0) >> (seq % 8)) & 1) === 1;
  }

  #missing(): void {
    const { faults, manifest } = this.#walk;
    const missing: number[] = [];
    const all = manifest.said.through - this.#numbers;
    for (let seq = 1; missing.length < Math.min(all, LISTED_MAX); seq++) if (!this.#isFound(seq)) missing.push(seq);
    const more = all - missing.length;
    for (const seq of missing) faults.push(`archive: observation ${seq} is in none of its objects`);
    if (more > 0) faults.push(`archive: ${plural(more, 'more observation')} likewise`);
  }

  async #copy(stored: StoredSeeds, file: string): Promise<number> {
    const bytes = await this.#read(stored);
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
    return bytes.length;
  }

  /** The bytes of an object, even if their hash is not the manifest's. Throws `Gone` when they cannot be read. */
  async #read({ key, etag, sha256 }: StoredSeeds): Promise<Uint8Array> {
    const { place, faults } = this.#walk;
    const found = await place.get(key, OBJECT_MAX).catch((error: unknown) => {
      // `conflict`: a pipe or a device is in its place.
      if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
      faults.push(`${key}: it cannot be read (${error.message})`);
      throw new Gone();
    });
    if (found === null) {
      faults.push(`${key}: the object is gone; restore its version ${etag}`);
      throw new Gone();
    }
    if (createHash('sha256').update(found.bytes).digest('hex') !== sha256) {
      faults.push(`${key}: its bytes are not those that the manifest names; restore its version ${etag}`);
    }
    return found.bytes;
  }
}

/** The object is gone, which is already among the faults. */
class Gone extends Fault {
  constructor() {
    super('not_found', 'the object is gone');
  }
}

async function reported(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
  }
}

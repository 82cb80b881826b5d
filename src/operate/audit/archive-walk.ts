import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { receiptHashText } from '../../proof/log/leaf.ts';
import { receiptHashLeaf } from '../../proof/log/logged-entries.ts';
import { type LocalFile, localFiles, merged, type Place, type Row } from '../../records/archive/local-files.ts';
import {
  type ArchiveObject,
  isCopy,
  type Manifest,
  type StoredSeeds,
  type Tombstone,
  tombstoneIn,
} from '../../records/archive/manifest.ts';
import { copyThrough, readThrough } from '../../records/archive/sources.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { linesOf } from '../../shared/files/lines.ts';
import { plural } from '../../shared/plural.ts';
import { sizeText } from '../../shared/size.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';

/** The largest object that is read, in bytes. */
const OBJECT_MAX = 32_000_000_000;
/** The most missing numbers that are listed. */
const LISTED_MAX = 100;
/** The most faults in memory: each row of a damaged archive may have several. */
const FAULTS_MAX = 10_000;
/** The longest line of tombstones, in bytes. */
const LINE_MAX = 100;
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
  /** Faults that are not listed. */
  #more = 0;

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
    const { place, faults, manifest } = this.#walk;
    const { objects } = manifest;
    const rows = objects.filter((object) => object.kind !== 'tombstones' && !isCopy(object));
    // All files of a name are in one group.
    for (const [bucket, own] of Map.groupBy(rows, (object) => object.bucket.slice(0, 1)))
      await this.#group(bucket, own);
    for (const object of objects) {
      if (object.kind === 'tombstones') await this.#tombstones(object);
      else if (isCopy(object))
        await reported(() => this.#read(object, (found, size) => readThrough(place, found, size)));
    }
    if (this.#isWhole) this.#missing();
    this.#bound();
    if (this.#more > 0) faults.push(`archive: ${plural(this.#more, 'more fault')}, which are not listed`);
    return this.#observations;
  }

  #bound(): void {
    const { faults } = this.#walk;
    this.#more += Math.max(0, faults.length - FAULTS_MAX);
    faults.length = Math.min(faults.length, FAULTS_MAX);
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
      this.#bound();
      progress('audit the archive', this.#observations, manifest.said.through, host);
    }
    if (host !== null) this.#visitor.endHost(host);
    for (const [n] of objects.entries()) rmSync(join(work, `${bucket}.${n}`), { recursive: true, force: true });
  }

  async #tombstones(object: ArchiveObject): Promise<void> {
    const path = join(this.#walk.work, 'tombstones.txt');
    await reported(async () => {
      await this.#copy(object, path);
      let n = 0;
      let before: string | null = null;
      try {
        // What follows the last newline is no line.
        for await (const line of linesOf(path, LINE_MAX)) {
          if (before !== null) this.#tombstone(`${object.key}, line ${++n}`, tombstoneIn(before));
          before = line.toString('latin1');
          this.#bound();
        }
      } catch (error) {
        this.#walk.faults.push(`${object.key}: ${messageOf(error)}`);
      }
    });
    rmSync(path, { force: true });
  }

  #tombstone(where: string, { seq, hash }: Tombstone): void {
    this.#note(seq, where);
    this.#visitor.leaf(where, seq, receiptHashText(`sha256:${Buffer.from(hash).toString('hex')}`));
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

  /** Copies an object to a new file. Returns its size. Throws as `#read`. */
  #copy(stored: StoredSeeds, path: string): Promise<number> {
    return this.#read(stored, (found, size) => copyThrough(this.#walk.place, found, size, path));
  }

  /**
   * Reads an object with `through`, which returns its hash, even if that is not the manifest's. Returns its size. Throws
   * `Unread` when it cannot be read.
   */
  async #read(
    { key, etag, sha256 }: StoredSeeds,
    through: (found: { key: string; etag: string }, size: number) => Promise<string | null>,
  ): Promise<number> {
    const { place, faults } = this.#walk;
    const unread = (why: string) => {
      faults.push(`${key}: ${why}`);
      return new Unread();
    };
    const head = await place.head(key).catch((error: unknown) => {
      // `conflict`: a pipe or a device is in its place.
      if (error instanceof Fault && error.code === 'conflict') throw unread(`it cannot be read (${error.message})`);
      throw error;
    });
    if (head === null) throw unread(`the object is gone; restore its version ${etag}`);
    const { size } = head;
    if (!(size <= OBJECT_MAX)) throw unread(`it has ${sizeText(size)}, and at most ${sizeText(OBJECT_MAX)} are read`);
    const hash = await through({ key, etag: head.etag }, size);
    if (hash === null) throw unread('it was replaced while it was read');
    if (hash !== sha256)
      faults.push(`${key}: its bytes are not those that the manifest names; restore its version ${etag}`);
    return size;
  }
}

/** The object cannot be read, which is already among the faults. */
class Unread extends Fault {
  constructor() {
    super('not_found', 'the object cannot be read');
  }
}

async function reported(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
  }
}

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
import { pushAll } from '../../shared/push-all.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';

/** The largest object that is read, in bytes. */
const OBJECT_MAX = 1_000_000_000;
/** Faults of one kind that are listed. */
const LISTED_MAX = 100;

/** What is done with what an archive has. Faults name the object and the row. */
export interface ArchiveVisitor {
  /** An observation. Those of a host come one after the other, oldest first. */
  observation(row: Row, place: Place): void;
  /** There are no more of this host. */
  endHost(hostname: string): void;
  /** What the log has of an observation, or of one that was erased. */
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
 * Reads every object that a manifest names, and visits what they hold. Every number must be there once. Appends to
 * `faults`. Returns the number of observations.
 */
export async function walkArchive(walk: Walk, visitor: ArchiveVisitor): Promise<number> {
  return new ArchiveWalk(walk, visitor).run();
}

class ArchiveWalk {
  readonly #walk: Walk;
  readonly #visitor: ArchiveVisitor;
  /** By number, whether an observation or a tombstone was found. */
  readonly #found: Uint8Array;
  /** Whether the objects have as many rows as the manifest says that there are observations. */
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
    this.#found = new Uint8Array(Math.ceil((Math.min(said.through, rows) + 1) / 8));
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
      await reported(async () =>
        pushAll(files, await localFiles(folder, [object], (stored, file) => this.#copy(stored, file))),
      );
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

  /** Notes that a number was found. */
  #note(seq: number, where: string): void {
    const { faults, manifest } = this.#walk;
    const [at, bit] = [seq >> 3, 1 << (seq & 7)];
    if (seq < 1 || seq > manifest.said.through) faults.push(`${where}: seq ${seq} is not one that the manifest covers`);
    else if (((this.#found[at] ?? 0) & bit) !== 0) faults.push(`${where}: seq ${seq} is there a second time`);
    else this.#found[at] = (this.#found[at] ?? 0) | bit;
  }

  #missing(): void {
    const { faults, manifest } = this.#walk;
    const missing: number[] = [];
    let more = 0;
    for (let seq = 1; seq <= manifest.said.through; seq++) {
      if (((this.#found[seq >> 3] ?? 0) & (1 << (seq & 7))) !== 0) continue;
      if (missing.length < LISTED_MAX) missing.push(seq);
      else more++;
    }
    for (const seq of missing) faults.push(`archive: observation ${seq} is in none of its objects`);
    if (more > 0) faults.push(`archive: ${plural(more, 'more observation')} likewise`);
  }

  async #copy(stored: StoredSeeds, file: string): Promise<number> {
    const bytes = await this.#read(stored);
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
    return bytes.length;
  }

  /** The bytes of an object, also when they are not those that the manifest names. Throws `Gone` without any. */
  async #read({ key, etag, sha256 }: StoredSeeds): Promise<Uint8Array> {
    const { place, faults } = this.#walk;
    const found = await place.get(key, OBJECT_MAX);
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

/** An object that was reported as gone. */
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

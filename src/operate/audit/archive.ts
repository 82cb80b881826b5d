import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { receiptHashText } from '../../proof/log/leaf.ts';
import { receiptHashLeaf } from '../../proof/log/logged-entries.ts';
import { leafHash } from '../../proof/merkle.ts';
import type { Observation } from '../../proof/records/observation.ts';
import { type LocalFile, localFiles, merged, type Place } from '../../records/archive/local-files.ts';
import {
  type ArchiveObject,
  MANIFEST,
  type Manifest,
  readManifest,
  type StoredSeeds,
  tombstonesIn,
} from '../../records/archive/manifest.ts';
import { observationOf } from '../../records/archive/observation-row.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { auditStoredHost } from './records.ts';

/** The largest object that is read, in bytes. */
const OBJECT_MAX = 1_000_000_000;
/** Faults of one kind that are listed. */
const LISTED_MAX = 100;

export interface ArchiveAudit {
  observations: number;
  /** By the index of a leaf, 1 where the archive has its observation, or its tombstone. */
  logged: Uint8Array;
}

/**
 * Reads every object that the manifest names, and rebuilds from their bytes every record, receipt and chain. Every
 * number must be there once, with its leaf in the log, and what the database derived must follow. Appends to `faults`,
 * which name the object and the row. Throws `invalid_request` without ARCHIVE_URL.
 */
export async function auditArchive(
  app: AppContext,
  faults: string[],
  progress: Progress['step'],
): Promise<ArchiveAudit> {
  const { store, archive: place, settings } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to where the archive is');
  const work = mkdtempSync(join(settings.dataDir, 'archive-audit.'));
  try {
    const manifest = await readNewest(app, place);
    const own = store.records.archive.newest();
    if (own?.generation !== manifest.said.generation) {
      faults.push(
        `archive: its manifest is number ${manifest.said.generation}, and the database knows number ${own?.generation ?? 0}; start the server, which follows`,
      );
    }
    return await new ArchiveAuditor(app, place, manifest, work, faults, progress).run();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function readNewest({ store }: AppContext, place: ArchivePlace): Promise<Manifest> {
  const found = await place.get(MANIFEST, OBJECT_MAX);
  if (found === null) throw new Fault('not_found', `${place.name} has no ${MANIFEST}; correct ARCHIVE_URL`);
  const text = Buffer.from(found.bytes).toString('utf8');
  return readManifest(text, store.desk.verifyingKeys('records'), `${MANIFEST} in ${place.name}`);
}

/** What the archive has of a host, oldest first, and where each number is. */
interface HostRows {
  hostname: string;
  observations: Observation[];
  places: Map<number, Place>;
}

class ArchiveAuditor {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #manifest: Manifest;
  readonly #work: string;
  readonly #faults: string[];
  readonly #progress: Progress['step'];
  /** By number, whether an observation or a tombstone was found. */
  readonly #found: Uint8Array;
  readonly #logged: Uint8Array;
  readonly #damaged: Set<number>;
  #observations = 0;

  constructor(
    app: AppContext,
    place: ArchivePlace,
    manifest: Manifest,
    work: string,
    faults: string[],
    progress: Progress['step'],
  ) {
    this.#app = app;
    this.#place = place;
    this.#manifest = manifest;
    this.#work = work;
    this.#faults = faults;
    this.#progress = progress;
    this.#found = new Uint8Array(Math.ceil((manifest.said.through + 1) / 8));
    this.#logged = new Uint8Array(app.store.database.log.size('records'));
    this.#damaged = new Set(app.store.records.damagedObservations().map(({ seq }) => seq));
  }

  async run(): Promise<ArchiveAudit> {
    const { objects } = this.#manifest;
    const rows = objects.filter(({ kind }) => kind === 'observations' || kind === 'observations_open');
    // All files of a name are in one group.
    for (const [bucket, own] of Map.groupBy(rows, (object) => object.bucket.slice(0, 1)))
      await this.#group(bucket, own);
    for (const object of objects) {
      if (object.kind === 'tombstones') await this.#tombstones(object);
      else if (!rows.includes(object)) {
        await this.#read(object).catch((error: unknown) => {
          // What is gone was reported.
          if (!(error instanceof Fault)) throw error;
        });
      }
    }
    this.#missing();
    return { observations: this.#observations, logged: this.#logged };
  }

  async #group(bucket: string, objects: readonly ArchiveObject[]): Promise<void> {
    const files: LocalFile[] = [];
    for (const [n, object] of objects.entries()) {
      const folder = join(this.#work, `${bucket}.${n}`);
      mkdirSync(folder);
      try {
        pushAll(files, await localFiles(folder, [object], (stored) => this.#read(stored)));
      } catch (error) {
        // What is gone was reported.
        if (!(error instanceof Fault)) throw error;
      }
    }
    let host = null as HostRows | null;
    const damaged = ({ key, row, end }: Place & { end: number }, error: unknown): void => {
      this.#faults.push(`${key}: rows ${row} to ${end - 1} cannot be read (${messageOf(error)})`);
    };
    for await (const { place, ...row } of merged(files, damaged)) {
      const { seq, hostname } = row;
      if (host !== null && host.hostname !== hostname) this.#host(host);
      if (host === null || host.hostname !== hostname) host = { hostname, observations: [], places: new Map() };
      this.#note(seq, `${place.key}, row ${place.row}`, receiptHashLeaf(row.receipt));
      host.places.set(seq, place);
      try {
        host.observations.push(observationOf(row));
      } catch (error) {
        this.#faults.push(`${place.key}, row ${place.row}: ${messageOf(error)}`);
      }
      this.#observations++;
      this.#progress('audit the archive', this.#observations, this.#manifest.said.through, hostname);
    }
    if (host !== null) this.#host(host);
    rmSync(this.#work, { recursive: true, force: true });
    mkdirSync(this.#work);
  }

  /** Audits a host by what the archive has of it, and what came after. */
  #host({ hostname, observations, places }: HostRows): void {
    const { store } = this.#app;
    const known = store.records.find(hostname);
    if (known === null) {
      this.#faults.push(`${hostname}: the archive has observations of it, and the database does not know the name`);
      return;
    }
    const audit = auditStoredHost(store, known, this.#damaged, observations);
    for (const text of audit.faults) {
      const place = places.get(Number(/: seq (\d+):/.exec(text)?.[1]));
      this.#faults.push(place === undefined ? text : `${place.key}, row ${place.row}: ${text}`);
    }
  }

  async #tombstones(object: ArchiveObject): Promise<void> {
    const stones = tombstonesIn(await this.#read(object));
    for (const [n, { seq, hash }] of stones.entries()) {
      this.#note(seq, `${object.key}, line ${n + 1}`, receiptHashText(`sha256:${Buffer.from(hash).toString('hex')}`));
    }
  }

  /** Notes that a number was found, and its leaf. */
  #note(seq: number, where: string, entry: string): void {
    const [at, bit] = [seq >> 3, 1 << (seq & 7)];
    if (seq < 1 || seq > this.#manifest.said.through)
      this.#faults.push(`${where}: seq ${seq} is not one that the manifest covers`);
    else if (((this.#found[at] ?? 0) & bit) !== 0) this.#faults.push(`${where}: seq ${seq} is there a second time`);
    else this.#found[at] = (this.#found[at] ?? 0) | bit;
    const index = this.#app.store.database.log.indexOf('records', leafHash(entry));
    if (index === null) this.#faults.push(`${where}: seq ${seq}: the log has no leaf of its receipt`);
    else this.#logged[index] = 1;
  }

  #missing(): void {
    const missing: number[] = [];
    for (let seq = 1; seq <= this.#manifest.said.through; seq++) {
      if (((this.#found[seq >> 3] ?? 0) & (1 << (seq & 7))) === 0) missing.push(seq);
    }
    for (const seq of missing.slice(0, LISTED_MAX))
      this.#faults.push(`archive: observation ${seq} is in none of its objects`);
    if (missing.length > LISTED_MAX) {
      this.#faults.push(`archive: ${plural(missing.length - LISTED_MAX, 'more observation')} likewise`);
    }
  }

  /** The bytes of an object, also when they are not those that the manifest names. Throws a Fault when it is gone. */
  async #read({ key, etag, sha256 }: StoredSeeds): Promise<Uint8Array> {
    const found = await this.#place.get(key, OBJECT_MAX);
    if (found === null) {
      this.#faults.push(`${key}: the object is gone; restore its version ${etag}`);
      throw new Fault('not_found', key);
    }
    const digest = createHash('sha256').update(found.bytes).digest('hex');
    if (digest !== sha256) {
      this.#faults.push(`${key}: its bytes are not those that the manifest names; restore its version ${etag}`);
    }
    return found.bytes;
  }
}

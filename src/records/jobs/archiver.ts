import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { sha256 } from '../../proof/basis.ts';
import { jwks } from '../../proof/keyring.ts';
import { DAY, dayOf, HOUR, isoTime, monthOf } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { StoredManifest } from '../../store/records/archive.ts';
import { bucketHash, folderOf } from '../archive/layout.ts';
import { localFiles, merged, type Row } from '../archive/local-files.ts';
import {
  type ArchiveObject,
  MANIFEST,
  type Manifest,
  type ManifestBody,
  manifestText,
  readManifest,
  type StoredSeeds,
  type Tombstone,
  tombstonesIn,
} from '../archive/manifest.ts';
import { ObservationRows } from '../archive/observation-row.ts';
import { findRows } from '../archive/parquet-read.ts';
import { writeParquet } from '../archive/parquet-write.ts';
import { ObjectChanged } from '../archive/reader.ts';
import { SEED_LENGTH, sourceOf } from '../archive/sources.ts';
import { OBSERVATIONS } from '../archive/tables.ts';
import { pathOf } from '../hostname.ts';
import { eraseAgain } from './erasure.ts';

/** A day is closed this long after its midnight, in ms: probes that began before are submitted by then. */
const MARGIN = HOUR;
/** Objects that no manifest names any more are deleted this much later, in ms: readers may still know them. */
export const GRACE = 2 * DAY;
/** Hexadecimal digits of the buckets of a day, and of a month with so many rows in one of these. */
const DIGITS = 1;
const ROWS_MAX = 2_000_000;
/** Rows that are looked at at a time. */
const CHUNK = 5_000;
/** The largest object that is read whole, in bytes. */
const OBJECT_MAX = 1_000_000_000;
/** The largest manifest, in bytes. */
const MANIFEST_MAX = 200_000_000;

/** The manifest that a step begins with; without one, number 0. */
interface Base {
  generation: number;
  through: number;
  objects: ArchiveObject[];
  newest: StoredManifest | null;
}
/** What a commit changes in the manifest. */
interface Change {
  through?: number;
  added?: ArchiveObject[];
  removed?: readonly ArchiveObject[];
  /** What observations leave that these objects no longer have. */
  erased?: Tombstone[];
}
/** An object that is not in a manifest yet. */
type Draft = Pick<ArchiveObject, 'period' | 'bucket'> & { kind: Exclude<ArchiveObject['kind'], 'tombstones'> };

export interface ArchiverOptions {
  /** Throws when this process may not go on. */
  assertHeld(): void;
}

/**
 * Moves the observations of closed days to the archive, in steps that each begin with what the newest manifest says. A
 * step uploads, reads back, and replaces the manifest if it is still the one that the step began with; only then the
 * database follows, and only what a manifest names is ever deleted from it. So a step that is killed, or loses to
 * another archiver, leaves nothing but objects that nobody names.
 */
export class Archiver {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #options: ArchiverOptions;
  readonly #work: string;
  /** The ETag of the newest manifest as the place has it. */
  #etag: string | null = null;
  /** Whether the database has nothing of what was erased. */
  #isErased = false;
  /** The last number of the last pass that pruned. */
  #pruned = -1;

  constructor(app: AppContext, place: ArchivePlace, options: ArchiverOptions) {
    this.#app = app;
    this.#place = place;
    this.#options = options;
    this.#work = join(app.settings.dataDir, `archive.${process.pid}`);
  }

  /** Does the next step. Returns whether there may be more to do. */
  async step(): Promise<boolean> {
    try {
      await this.adopt();
      const isMore =
        (await this.#publish()) || (await this.#erase()) || (await this.#archiveDay()) || (await this.#compact());
      if (!isMore) {
        await this.#prune();
        await this.#clean();
      }
      return isMore;
    } catch (error) {
      // Another archiver was faster: begin again with its manifest.
      if (error instanceof ObjectChanged) return true;
      throw error;
    } finally {
      rmSync(this.#work, { recursive: true, force: true });
    }
  }

  get #tables() {
    return this.#app.store.records.archive;
  }

  /** The manifest that a step begins with. */
  #base(): Base {
    const newest = this.#tables.newest();
    const { generation = 0, through = 0 } = newest ?? {};
    return { generation, through, objects: this.#tables.objects(), newest };
  }

  /**
   * Takes over the manifest of the archive where the database has an older one: after a restore, or after a kill
   * between the manifest and the database. Throws `conflict` for an archive that this database cannot follow.
   */
  async adopt(): Promise<void> {
    const own = this.#tables.newest();
    const etag = await this.#place.etag(MANIFEST);
    if (etag === null) {
      this.#etag = null;
      if (own === null) return;
      throw new Fault(
        'conflict',
        `${this.#place.name} has no ${MANIFEST}, and this database has archived observations up to ${own.through} there; correct ARCHIVE_URL, or restore the bucket`,
      );
    }
    if (etag === this.#etag && own !== null) return;
    const found = await this.#place.get(MANIFEST, MANIFEST_MAX);
    if (found === null) throw new ObjectChanged(MANIFEST);
    const digest = hex(found.bytes);
    if (own?.sha256 !== digest) await this.#follow(found.bytes, found.etag);
    this.#etag = found.etag;
  }

  /** Makes a manifest that the archive has the newest one of the database too. */
  async #follow(bytes: Uint8Array, etag: string, isOwn = false): Promise<void> {
    const { store, clock, signer } = this.#app;
    const where = `${MANIFEST} in ${this.#place.name}`;
    const manifest = readManifest(Buffer.from(bytes).toString('utf8'), store.desk.verifyingKeys('records'), where);
    const { generation, through } = manifest.said;
    const own = this.#tables.newest();
    if (own !== null && own.generation >= generation) {
      const what = own.generation === generation ? 'is another one than' : 'is older than';
      throw new Fault(
        'conflict',
        `${where}, number ${generation}, ${what} the one of this database, number ${own.generation}; restore the newest version of that object, or correct ARCHIVE_URL`,
      );
    }
    if (own !== null && generation === own.generation + 1 && manifest.said.prev !== hashOf(own.note)) {
      throw new Fault(
        'conflict',
        `${where} does not follow the one before; another copy of this database archives too`,
      );
    }
    const here = store.records.nextSeq() - 1;
    if (through > here) {
      store.database.transact(() => this.#tables.noteSeen(through));
      // Nothing is signed from now on.
      signer.open();
      throw new Fault('conflict', olderThanArchive(through, here));
    }
    const buried = await this.#tombstonesOf(manifest);
    if (!isOwn) await this.#requireSame(manifest, own?.through ?? 0, buried);
    store.database.transact(() => {
      if ((this.#tables.newest()?.generation ?? 0) >= generation) return;
      const at = Math.max(clock.now(), Date.parse(manifest.said.signed_at));
      const isErasure = buried.length > 0;
      const row = { generation, through, etag, sha256: hex(bytes), note: manifest.note, at };
      this.#tables.adopt(row, manifest.objects, isErasure);
      for (const { seq, hash, object } of buried) this.#tables.bury(seq, hash, object);
      store.records.logLeaf(manifest.note);
    });
    if (buried.length > 0) this.#isErased = false;
  }

  /**
   * Throws `conflict` where this database gave the last number of the archive to another observation, as an older copy
   * does that signs before it sees the archive: whatever numbers they share after the copy was made, that is one of them.
   */
  async #requireSame({ objects, said: { through } }: Manifest, before: number, buried: Tombstone[]): Promise<void> {
    const [here] = this.#tables.receiptsAfter(through - 1, 1);
    if (through <= before || here?.seq !== through) return;
    const refuse = () =>
      new Fault(
        'conflict',
        `observation ${through} in the archive is not the one of this database: this is an older copy, which gave its number again; restore the newest copy of the database`,
      );
    const stone = buried.find(({ seq }) => seq === through);
    if (stone !== undefined && hex(Buffer.from(here.receipt)) !== Buffer.from(stone.hash).toString('hex'))
      throw refuse();
    for (const object of objects) {
      if (object.last_seq !== through || object.kind === 'tombstones') continue;
      const files = await localFiles(this.#newWork(), [{ ...object, seeds: null }], (one) => this.#read(one));
      for await (const { seq, receipt } of merged(files)) {
        if (seq === through && receipt !== here.receipt) throw refuse();
      }
      rmSync(this.#work, { recursive: true, force: true });
    }
  }

  async #tombstonesOf(manifest: Manifest): Promise<(Tombstone & { object: string })[]> {
    const found: (Tombstone & { object: string })[] = [];
    for (const object of manifest.objects) {
      if (object.kind !== 'tombstones' || this.#tables.buriedIn(object.key)) continue;
      for (const stone of tombstonesIn(await this.#read(object))) found.push({ ...stone, object: object.key });
    }
    return found;
  }

  /** Replaces the manifest, and then what the database says of it. */
  async #commit(base: Base, change: Change): Promise<void> {
    const { store, signer, clock } = this.#app;
    const { through = base.through, added = [], removed = [], erased = [] } = change;
    const waiting = new Map([...this.#tables.tombstones(through), ...erased].map((stone) => [stone.seq, stone]));
    const stones = [...waiting.values()].sort((a, b) => a.seq - b.seq);
    if (stones.length > 0) added.push(await this.#putTombstones(stones, base.generation + 1));
    await this.#place.flush();
    this.#options.assertHeld();
    const gone = new Set(removed.map(({ key }) => key));
    const body: ManifestBody = {
      v: 1,
      objects: [...base.objects.filter(({ key }) => !gone.has(key)), ...added],
      keys: jwks(store.desk.verifyingKeys('records')),
      clock: store.desk.clockNotes('records', ''),
    };
    // A hostname that is erased meanwhile must not come back.
    if (this.#tables.tombstones(through).some(({ seq }) => !waiting.has(seq))) throw new ObjectChanged('erased');
    const bytes = Buffer.from(
      store.database.transact(() => {
        const key = signer.key('records');
        const signed_at = isoTime(Math.max(clock.now(), key.nbf, base.newest?.at ?? 0));
        const prev = base.newest === null ? null : hashOf(base.newest.note);
        return manifestText(body, { generation: base.generation + 1, through, prev, signed_at }, key);
      }),
    );
    const onlyIf = base.newest === null ? 'absent' : { etag: this.#etag ?? '' };
    const etag = await this.#place.put(MANIFEST, bytes, onlyIf);
    if (etag === null) {
      this.#etag = null;
      throw new ObjectChanged(MANIFEST);
    }
    await this.#place.flush();
    await this.#follow(bytes, etag, true);
    this.#etag = etag;
  }

  /** Copies an object to the key at which engines look for it. */
  async #publish(): Promise<boolean> {
    const base = this.#base();
    const waiting = base.objects.filter(({ publish }) => publish !== null);
    if (waiting.length === 0) return false;
    const added: ArchiveObject[] = [];
    for (const object of waiting) {
      const key = object.publish ?? '';
      const bytes = await this.#read(object);
      const present = await this.#place.get(key, OBJECT_MAX);
      let etag = present?.etag ?? null;
      if (present === null || hex(present.bytes) !== object.sha256) {
        // What is there is an older version; a newer one would be in a newer manifest.
        etag = await this.#place.put(key, bytes, present === null ? 'absent' : { etag: present.etag });
      }
      if (etag === null) throw new ObjectChanged(key);
      const published = { ...object, key, etag, publish: null };
      await this.#requireStored(published);
      added.push(published);
    }
    await this.#commit(base, { added, removed: waiting });
    return true;
  }

  /** Archives the observations of the next closed day, with those of other days among them. */
  async #archiveDay(): Promise<boolean> {
    const base = this.#base();
    const { store } = this.#app;
    const range = this.#nextDay(base.through);
    if (range === null) return false;
    /** By day and bucket, the hosts that were observed. */
    const groups = new Map<string, { day: string; bucket: string; hosts: Map<string, number> }>();
    const known = new Map<number, { path: string; bucket: string }>();
    for (let after = base.through; ; ) {
      const rows = this.#tables.between(after, range, CHUNK);
      for (const { host, observed_at } of rows) {
        let place = known.get(host);
        if (place === undefined) {
          const { hostname = '', path = '', registrable_domain = null } = this.#tables.host(host) ?? {};
          place = { path, bucket: bucketHash(hostname, registrable_domain).slice(0, DIGITS) };
          known.set(host, place);
        }
        const day = dayOf(observed_at);
        const key = `${day} ${place.bucket}`;
        const group = groups.get(key) ?? { day, bucket: place.bucket, hosts: new Map() };
        group.hosts.set(place.path, host);
        groups.set(key, group);
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.seq;
      await turn();
    }
    const added: ArchiveObject[] = [];
    for (const { day, bucket, hosts } of groups.values()) {
      const rowsOfDay = async function* (): AsyncGenerator<Row> {
        for (const path of [...hosts.keys()].sort()) {
          // All of a host first: other reads of the database come in between.
          const rows = [...store.records.storedObservations(hosts.get(path) ?? 0, base.through + 1, range)];
          yield* rows.filter(({ observed_at }) => dayOf(observed_at) === day);
          await turn();
        }
      };
      added.push(await this.#put({ kind: 'observations_open', period: day, bucket }, rowsOfDay(), base.generation + 1));
    }
    await this.#commit(base, { through: range, added });
    return true;
  }

  /** The last number to archive next, after one; null while no day is closed. */
  #nextDay(through: number): number | null {
    const { records } = this.#app.store;
    const closed = this.#closedBefore();
    const [first] = this.#tables.between(through, Number.MAX_SAFE_INTEGER, 1);
    const newest = records.nextSeq() - 1;
    // What is left was erased: only its tombstones go to the archive.
    if (first === undefined) return this.#tables.tombstones(newest).length > 0 && newest > through ? newest : null;
    if (first.observed_at >= closed) return null;
    const end = Math.min(closed, (Math.floor(first.observed_at / DAY) + 1) * DAY);
    const next = this.#tables.firstSince(through, end);
    return next === null ? newest : next - 1;
  }

  /** Days that ended before this moment (ms) are closed. */
  #closedBefore(): number {
    return Math.floor((this.#app.clock.now() - MARGIN) / DAY) * DAY;
  }

  /** Makes one object of the days of a closed month for each bucket. */
  async #compact(): Promise<boolean> {
    const base = this.#base();
    const month = monthOf(this.#closedBefore());
    const open = base.objects.filter(({ kind, period }) => kind === 'observations_open' && period.slice(0, 7) < month);
    const done = new Set(base.objects.flatMap(({ kind, period }) => (kind === 'observations' ? [period] : [])));
    // Rows that come late stay in files of their days.
    const due = open.map(({ period }) => period.slice(0, 7)).filter((period) => !done.has(period));
    const period = due.sort()[0];
    if (period === undefined) return false;
    const days = open.filter((object) => object.period.startsWith(period));
    const added: ArchiveObject[] = [];
    for (const [bucket, own] of Map.groupBy(days, (object) => object.bucket)) {
      const total = own.reduce((sum, { rows }) => sum + rows, 0);
      const parts = total <= ROWS_MAX ? [bucket] : [...'0123456789abcdef'].map((digit) => bucket + digit);
      const files = await localFiles(this.#newWork(), own, (one) => this.#read(one));
      for (const part of parts) {
        const rows = kept(merged(files), ({ hostname }) => part === bucket || this.#hashOf(hostname).startsWith(part));
        const object = await this.#put({ kind: 'observations', period, bucket: part }, rows, base.generation + 1);
        added.push({ ...object, publish: `${folderOf('observations', period, part)}/data.parquet` });
      }
      rmSync(this.#work, { recursive: true, force: true });
    }
    await this.#commit(base, { added, removed: days });
    return true;
  }

  #hashOf(hostname: string): string {
    return bucketHash(hostname, this.#app.store.records.find(hostname)?.registrable_domain ?? null);
  }

  /** Takes the rows of erased hostnames out of all objects that have some. */
  async #erase(): Promise<boolean> {
    const { store } = this.#app;
    if (!this.#isErased) eraseAgain(this.#app);
    this.#isErased = true;
    const base = this.#base();
    const erasures = this.#tables.erasures();
    const paths = new Set(erasures.map(({ path }) => path));
    const concerned = new Map<string, ArchiveObject>();
    for (const { path, bucket, generation } of erasures) {
      const own = this.#tables.objectsFor(bucket, path);
      let isThere = false;
      for (const object of own) {
        if ((await findRows(sourceOf(this.#place, object), path)) === null) continue;
        isThere = true;
        concerned.set(object.key, object);
      }
      // A manifest that was made from the one of then fails after the next, so nothing can come back.
      if (!isThere && base.generation > generation) store.database.transact(() => this.#tables.endErasure(path));
    }
    if (concerned.size === 0) {
      const isNew = base.newest !== null && erasures.some(({ generation }) => generation >= base.generation);
      if (isNew) await this.#commit(base, {});
      return isNew;
    }
    const [added, erased]: [ArchiveObject[], Tombstone[]] = [[], []];
    for (const object of concerned.values()) {
      const files = await localFiles(this.#newWork(), [object], (one) => this.#read(one));
      const rows = kept(merged(files), ({ hostname, seq, receipt }) => {
        if (!paths.has(pathOf(hostname))) return true;
        erased.push({ seq, hash: createHash('sha256').update(receipt).digest() });
        return false;
      });
      const { period, bucket } = object;
      const kind = object.kind === 'observations' ? object.kind : 'observations_open';
      const next = await this.#put({ kind, period, bucket }, rows, base.generation + 1);
      const stable = object.publish ?? (kind === 'observations' ? object.key : null);
      added.push({ ...next, publish: stable });
      rmSync(this.#work, { recursive: true, force: true });
    }
    await this.#commit(base, { added, removed: [...concerned.values()], erased });
    return true;
  }

  /** Deletes what the archive has from the database, after a last look at the objects. */
  async #prune(): Promise<void> {
    const through = this.#tables.through();
    if (through === this.#pruned || through === 0) return;
    for (const object of this.#tables.objects()) {
      if (object.kind !== 'observations' && object.kind !== 'observations_open') continue;
      for (const { key, etag } of [object, object.seeds].filter((one) => one !== null)) {
        if ((await this.#place.etag(key)) === etag) continue;
        const message = `${key} in ${this.#place.name} is not what ${MANIFEST} names, so nothing is deleted from the database; restore its version ${etag}`;
        throw new Fault('conflict', message);
      }
    }
    for (let done = this.#tables.prune(0); done !== null; done = this.#tables.prune(done.last)) await turn();
    // Even where nothing was deleted: a kill may have come between.
    await this.#tables.sweepParts(turn);
    this.#pruned = through;
  }

  /** Deletes objects that no manifest names any more, those of an erasure at once. */
  async #clean(): Promise<void> {
    const { generation, objects } = this.#base();
    // Two archivers with the same rows give an object the same key.
    const named = new Set(objects.flatMap(({ key, seeds, publish }) => [key, seeds?.key, publish]));
    for (const key of this.#tables.left(this.#app.clock.now() - GRACE)) {
      // A later number is that of a manifest which may still be committed. The key of a month's rows is written again.
      const [, number] = /\/(\d+)-[0-9a-f]{16}\.[a-z]+$/.exec(key) ?? [];
      if (number !== undefined && Number(number) > generation) continue;
      if (number !== undefined && !named.has(key)) await this.#place.remove([key]);
      this.#app.store.database.transact(() => this.#tables.forgetLeft(key));
    }
    await this.#place.flush();
  }

  /** Writes rows as an object of its own, with their seeds, and reads both back. */
  async #put(draft: Draft, rows: AsyncIterable<Row>, generation: number): Promise<ArchiveObject> {
    const ranges = new Ranges();
    const lines = new ObservationRows();
    const columns = async function* () {
      for await (const row of rows) {
        ranges.note(row);
        yield lines.rowOf(row);
      }
    };
    const file = join(this.#newWork(), `${draft.bucket}.parquet`);
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

  async #putTombstones(stones: Tombstone[], generation: number): Promise<ArchiveObject> {
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
    this.#options.assertHeld();
    // Until a manifest names it, it is left behind.
    this.#app.store.database.transact(() => this.#tables.leave(key, this.#app.clock.now()));
    const etag = await this.#place.put(key, bytes);
    const stored = { key, etag: etag ?? '', sha256: digest };
    await this.#requireStored(stored);
    return stored;
  }

  /** Reads an object back: an upload is believed when its bytes are there. */
  async #requireStored({ key, etag, sha256: digest }: StoredSeeds): Promise<void> {
    const back = await this.#place.get(key, OBJECT_MAX);
    if (back !== null && back.etag === etag && hex(back.bytes) === digest) return;
    const message = `${this.#place.name} gave other bytes for ${key} than were uploaded; check what is between it and this machine`;
    throw new Fault('unavailable', message);
  }

  async #read(object: Pick<ArchiveObject, 'key' | 'etag' | 'sha256'>): Promise<Uint8Array> {
    const found = await this.#place.get(object.key, OBJECT_MAX);
    if (found !== null && hex(found.bytes) === object.sha256) return found.bytes;
    const what = found === null ? 'is gone' : 'has other bytes';
    throw new Fault('conflict', `${object.key} ${what} in ${this.#place.name}; restore its version ${object.etag}`);
  }

  #newWork(): string {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    return this.#work;
  }
}

async function* kept(rows: AsyncIterable<Row>, isKept: (row: Row) => boolean): AsyncGenerator<Row> {
  for await (const row of rows) if (isKept(row)) yield row;
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

/** Why a database with fewer observations than an archive must not give their numbers again. */
export function olderThanArchive(through: number, here: number): string {
  return `the archive has observations up to ${through}, and this database up to ${here}: it is an older copy, and would give their numbers again; restore the newest copy of the database`;
}

function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What the next manifest names as the one before. */
function hashOf(note: string): string {
  return sha256(note.slice(0, note.lastIndexOf('\n\n') + 1));
}

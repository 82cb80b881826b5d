import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { DAY, dayOf, HOUR, monthOf } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import { folderOf } from '../archive/layout.ts';
import { merged, type Row } from '../archive/local-files.ts';
import { type ArchiveObject, MANIFEST, type Tombstone } from '../archive/manifest.ts';
import { findRows } from '../archive/parquet-read.ts';
import { ObjectChanged } from '../archive/reader.ts';
import { sourceOf } from '../archive/sources.ts';
import { bucketHash, parseHostname, pathOf } from '../hostname.ts';
import { ArchiveCopies, NO_DAY } from './archive-copies.ts';
import { ArchiveManifest } from './archive-manifest.ts';
import { ArchiveObjects } from './archive-objects.ts';
import { eraseAgain, forgetEarlier } from './erasure.ts';

/** A day is closed this long after its midnight, in ms: probes that began on that day have been submitted by then. */
const MARGIN = HOUR;
/** How long objects are kept after the last manifest that lists them, in ms: readers may still use that manifest. */
export const GRACE = 2 * DAY;
/**
 * A day is divided into buckets by one hexadecimal digit; a month's bucket with more rows than this, by another digit.
 */
const DIGITS = 1;
const ROWS_MAX = 500_000;
/** The most consecutive steps that may fail because an object was replaced meanwhile. */
const LOST_MAX = 5;
/** How many rows are read at a time. */
const CHUNK = 5_000;
/** How many hosts of a day are read at a time. */
const PAGE = 1_000;
export interface ArchiverOptions {
  /** Throws when this process has lost the lease. */
  assertHeld(): void;
  /** A month's bucket with more rows is divided. */
  rowsMax?: number;
}

/**
 * Moves the observations of closed days to the archive, in steps. Each step starts from the newest manifest, uploads
 * objects, reads them back, and replaces the manifest if it has not changed meanwhile. Only then is the database
 * updated, and rows are only deleted from it if a manifest lists the object that has them. So a step that is killed, or
 * loses to another archiver, leaves nothing behind but unlisted objects.
 */
export class Archiver {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #objects: ArchiveObjects;
  readonly #manifest: ArchiveManifest;
  readonly #copies: ArchiveCopies;
  /** Consecutive steps that lost to another archiver, or whose storage refused a conditional PUT. */
  #lost = 0;
  readonly #rowsMax: number;
  /** The number through which the database was last pruned. */
  #pruned = -1;

  constructor(app: AppContext, place: ArchivePlace, { assertHeld, rowsMax = ROWS_MAX }: ArchiverOptions) {
    this.#rowsMax = rowsMax;
    this.#app = app;
    this.#place = place;
    this.#objects = new ArchiveObjects(app, place, assertHeld);
    this.#manifest = new ArchiveManifest(app, place, this.#objects, assertHeld);
    this.#copies = new ArchiveCopies(app, place, this.#objects, this.#manifest);
  }

  /** Runs the next step. Returns whether there may be more to do. */
  async step(): Promise<boolean> {
    try {
      await this.#manifest.adopt();
      const isMore =
        (await this.#copies.dropLost()) ||
        (await this.#publish()) ||
        (await this.#erase()) ||
        (await this.#archiveDay()) ||
        (await this.#compact()) ||
        (await this.#copies.write(this.#closedBefore()));
      if (!isMore) {
        await this.#prune();
        await this.#clean();
      }
      this.#lost = 0;
      return isMore;
    } catch (error) {
      if (!(error instanceof ObjectChanged)) throw error;
      // Another archiver was faster: start again from its manifest.
      if (++this.#lost < LOST_MAX) return true;
      throw new Fault(
        'unavailable',
        `${this.#place.name} refused ${LOST_MAX} times in a row what was to replace an object (${error.message}); end whatever else writes there, and check that it supports conditional PUT (If-Match, If-None-Match)`,
      );
    } finally {
      this.#objects.clear();
    }
  }

  get #tables() {
    return this.#app.store.records.archive;
  }

  /** Copies objects to the keys at which engines expect them. */
  async #publish(): Promise<boolean> {
    const base = this.#manifest.base();
    const waiting = base.objects.filter(({ publish }) => publish !== null);
    if (waiting.length === 0) return false;
    const added: ArchiveObject[] = [];
    for (const object of waiting) {
      const key = object.publish ?? '';
      const present = await this.#place.head(key);
      let etag = present?.etag ?? null;
      if (present === null || !(await this.#objects.isCopied(object, key, present))) {
        // Replaces the object there only if it is unchanged: a newer one would be listed in a newer manifest.
        const onlyIf = present === null ? 'absent' : { etag: present.etag };
        etag = await this.#place.put(key, await this.#objects.content(object), onlyIf);
      }
      if (etag === null) throw new ObjectChanged(key);
      const published = { ...object, key, etag, publish: null };
      await this.#objects.requireStored(published, published.bytes);
      added.push(published);
    }
    await this.#manifest.commit(base, { added, removed: waiting });
    return true;
  }

  /**
   * Archives the next closed day. Numbers are archived in order, so observations of other days in between come along.
   */
  async #archiveDay(): Promise<boolean> {
    const base = this.#manifest.base();
    const { store } = this.#app;
    const range = this.#nextDay(base.through);
    if (range === null) return false;
    const plan = this.#tables.newDayPlan();
    const placeOf = (host: number): [bucket: string, path: string] => {
      const { hostname = '', path = '', registrable_domain = null } = this.#tables.host(host) ?? {};
      return [bucketHash(hostname, registrable_domain).slice(0, DIGITS), path];
    };
    for (let after = base.through; ; ) {
      const rows = this.#tables.between(after, range, CHUNK);
      plan.add(rows.map(({ host, observed_at }) => [dayOf(observed_at), ...placeOf(host), host]));
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.seq;
      await turn();
    }
    const added: ArchiveObject[] = [];
    for (const { day, bucket } of plan.groups()) {
      const rowsOfDay = async function* (): AsyncGenerator<Row> {
        for (let page = plan.hosts(day, bucket, '', PAGE); page.length > 0; ) {
          for (const { host } of page) {
            // Reads all rows of a host before yielding, because other reads of the database run in between.
            const rows = [...store.records.storedObservations(host, base.through + 1, range)];
            yield* rows.filter(({ observed_at }) => dayOf(observed_at) === day);
            await turn();
          }
          page = plan.hosts(day, bucket, page.at(-1)?.path ?? '', PAGE);
        }
      };
      added.push(
        await this.#objects.put({ kind: 'observations_open', period: day, bucket }, rowsOfDay(), base.generation + 1),
      );
    }
    plan.end();
    await this.#manifest.commit(base, { through: range, added });
    return true;
  }

  /** The last number to archive in the next step, after `through`; null while no day is closed. */
  #nextDay(through: number): number | null {
    const { records } = this.#app.store;
    const closed = this.#closedBefore();
    const [first] = this.#tables.between(through, Number.MAX_SAFE_INTEGER, 1);
    const newest = records.nextSeq() - 1;
    // All later observations were erased: only their tombstones are archived.
    if (first === undefined) return this.#tables.tombstones(newest).length > 0 && newest > through ? newest : null;
    if (first.observed_at >= closed) return null;
    const end = Math.min(closed, (Math.floor(first.observed_at / DAY) + 1) * DAY);
    const next = this.#tables.firstSince(through, end);
    return next === null ? newest : next - 1;
  }

  /** Days that ended before this moment (ms) are closed. */
  #closedBefore(): number {
    return closedBefore(this.#app.clock.now());
  }

  /**
   * Merges the days of a closed month into one object per bucket. Days archived later for such a month go into an
   * additional object beside it, so that engines find each row in exactly one folder.
   */
  async #compact(): Promise<boolean> {
    const base = this.#manifest.base();
    const month = monthOf(this.#closedBefore());
    const open = base.objects.filter(
      ({ kind, period }) => kind === 'observations_open' && period !== NO_DAY && period.slice(0, 7) < month,
    );
    const done = new Set(base.objects.flatMap(({ kind, period }) => (kind === 'observations' ? [period] : [])));
    const period = open.map(({ period }) => period.slice(0, 7)).sort()[0];
    if (period === undefined) return false;
    const name = done.has(period) ? `late-${base.generation + 1}` : 'data';
    const days = open.filter((object) => object.period.startsWith(period));
    const added: ArchiveObject[] = [];
    for (const [bucket, own] of Map.groupBy(days, (object) => object.bucket)) {
      for await (const [part, rows] of this.#partsOf(bucket, own)) {
        const draft = { kind: 'observations' as const, period, bucket: part };
        const object = await this.#objects.put(draft, rows, base.generation + 1);
        added.push({ ...object, publish: `${folderOf('observations', period, part)}/${name}.parquet` });
      }
      this.#objects.clear();
    }
    await this.#manifest.commit(base, { added, removed: days });
    return true;
  }

  /** The rows of a bucket's objects, divided into more buckets if there are very many. */
  async *#partsOf(bucket: string, objects: readonly ArchiveObject[]): AsyncGenerator<[string, AsyncIterable<Row>]> {
    const rows = merged(await this.#objects.local(objects));
    if (objects.reduce((sum, object) => sum + object.rows, 0) <= this.#rowsMax) return yield [bucket, rows];
    let known = { hostname: '', part: '' };
    const partOf = ({ hostname }: Row): string => {
      if (known.hostname !== hostname) {
        // A database from before the manifest may lack the hostname.
        const { registrable_domain } = this.#app.store.records.find(hostname) ?? parseHostname(hostname);
        known = { hostname, part: bucketHash(hostname, registrable_domain).slice(0, bucket.length + 1) };
      }
      return known.part;
    };
    const parts = [...'0123456789abcdef'].map((digit) => bucket + digit);
    for (const { part, file } of await this.#objects.divided(rows, parts, partOf)) yield [part, merged([file])];
  }

  /** Removes the rows of erased hostnames from all objects that contain any. */
  async #erase(): Promise<boolean> {
    const { store } = this.#app;
    const isAgain = this.#manifest.isErasureDue && eraseAgain(this.#app);
    this.#manifest.isErasureDue = false;
    const base = this.#manifest.base();
    const erasures = this.#tables.erasures();
    // Also when the database erased the rows earlier: the command may have been killed before it emptied the log.
    if (isAgain || erasures.length > 0) await forgetEarlier(this.#app);
    const paths = new Set(erasures.map(({ path }) => path));
    const copies = await this.#copies.having([...paths]);
    const concerned = new Map<string, ArchiveObject>();
    for (const { path, bucket, generation } of erasures) {
      const own = this.#tables.objectsFor(bucket, path);
      let isThere = false;
      for (const object of own) {
        if ((await findRows(sourceOf(this.#place, object), path)) === null) continue;
        isThere = true;
        concerned.set(object.key, object);
      }
      // Only after one more manifest: a commit based on a manifest from before the erasure can then only fail, so that
      // no erased row comes back.
      if (!isThere && copies.length === 0 && base.generation > generation)
        store.database.transact(() => this.#tables.endErasure(path));
    }
    if (concerned.size === 0 && copies.length === 0) {
      const isNew = base.newest !== null && erasures.some(({ generation }) => generation >= base.generation);
      if (isNew) await this.#manifest.commit(base, {});
      return isNew;
    }
    const erased: Tombstone[] = [];
    const months = new Set([...concerned.values(), ...copies].map(({ period }) => period));
    const { added, removed } = await this.#copies.without(paths, copies, months, base.generation + 1);
    for (const object of concerned.values()) {
      const files = await this.#objects.local([object]);
      const rows = kept(merged(files), ({ hostname, seq, receipt }) => {
        if (!paths.has(pathOf(hostname))) return true;
        erased.push({ seq, hash: createHash('sha256').update(receipt).digest() });
        return false;
      });
      const { period, bucket } = object;
      const kind = object.kind === 'observations' ? object.kind : 'observations_open';
      const next = await this.#objects.put({ kind, period, bucket }, rows, base.generation + 1);
      const stable = object.publish ?? (kind === 'observations' ? object.key : null);
      added.push({ ...next, publish: stable });
      this.#objects.clear();
    }
    await this.#manifest.commit(base, { added, removed: [...removed, ...concerned.values()], erased });
    return true;
  }

  /** Deletes archived observations from the database, after checking once more that their objects exist. */
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
    // Also when nothing was deleted: a kill may have come between deleting and sweeping.
    await this.#tables.sweepParts(turn);
    this.#pruned = through;
  }

  /** Deletes objects that no manifest lists any more: replaced ones after `GRACE`, those of an erasure at once. */
  async #clean(): Promise<void> {
    const { generation, objects } = this.#manifest.base();
    // Uploads of the same rows by two archivers have the same key, so a listed key may also be recorded as an orphan.
    const named = new Set(objects.flatMap(({ key, seeds, publish }) => [key, seeds?.key, publish]));
    for (const key of this.#tables.left(this.#app.clock.now() - GRACE)) {
      // An object with a later generation may still be listed by that manifest. Keys without a generation, for engines,
      // are overwritten instead.
      const [, number] = /\/(\d+)-[0-9a-f]{16}\.[a-z]+$/.exec(key) ?? [];
      if (number !== undefined && Number(number) > generation) continue;
      if (number !== undefined && !named.has(key)) await this.#place.remove([key]);
      this.#app.store.database.transact(() => this.#tables.forgetLeft(key));
    }
    await this.#place.flush();
  }
}

async function* kept(rows: AsyncIterable<Row>, isKept: (row: Row) => boolean): AsyncGenerator<Row> {
  for await (const row of rows) if (isKept(row)) yield row;
}

/** The moment (ms) before which days are closed at `now` (ms). */
export function closedBefore(now: number): number {
  return Math.floor((now - MARGIN) / DAY) * DAY;
}

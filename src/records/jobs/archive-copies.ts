import { entriesOf, present } from '../../proof/narrow.ts';
import { DAY, dayOf } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import { folderOf } from '../archive/layout.ts';
import { type ArchiveObject, COPIES, isCopy } from '../archive/manifest.ts';
import { findRows, readRows } from '../archive/parquet-read.ts';
import { byValue, SEEN_COLUMNS, sightingsOf } from '../archive/sightings.ts';
import { sorted } from '../archive/sorted.ts';
import { sourceOf } from '../archive/sources.ts';
import {
  CHANGES,
  DELTAS,
  type DeltaRow,
  OBSERVATIONS,
  OBSERVED,
  SEEN,
  type Shape,
  SIGHTINGS,
  type SightingRow,
} from '../archive/tables.ts';
import { pathOf } from '../hostname.ts';
import type { ArchiveManifest, Base } from './archive-manifest.ts';
import type { ArchiveObjects, Draft } from './archive-objects.ts';

/** The period of each table's file without rows, which shows engines the columns while there are no other files. */
export const NO_DAY = '1970-01-01';
const NO_MONTH = NO_DAY.slice(0, 7);
/** About this many objects are committed with one manifest. */
const AT_ONCE = 64;
/** The rows in one part of a month's sightings by value. */
const PART = 2_000_000;
/** How many changes are read at a time. */
const CHUNK = 1_000;

/** Objects to make, and the objects in the manifest that they replace. */
interface Due {
  replaced: readonly ArchiveObject[];
  make(): Promise<ArchiveObject[]>;
}

/**
 * Copies for query engines, which the service never reads: the changes of each closed day, and the values seen in each
 * closed month, sorted by name and by value. A copy is made when it is missing, or older than its source.
 */
export class ArchiveCopies {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #objects: ArchiveObjects;
  readonly #manifest: ArchiveManifest;
  #isChecked = false;

  constructor(app: AppContext, place: ArchivePlace, objects: ArchiveObjects, manifest: ArchiveManifest) {
    this.#app = app;
    this.#place = place;
    this.#objects = objects;
    this.#manifest = manifest;
  }

  /**
   * Removes copies that are gone or were overwritten from the manifest, so that they are made again. Runs once per
   * process.
   */
  async dropLost(): Promise<boolean> {
    if (this.#isChecked) return false;
    const base = this.#manifest.base();
    const copies = base.objects.filter(isCopy);
    const found = new Map<string, string>();
    const roots = copies.length === 0 ? [] : [...COPIES.map((kind) => `${kind}/`), 'staging/'];
    for (const root of roots) for await (const { key, etag } of this.#place.list(root)) found.set(key, etag);
    const removed = copies.filter(({ key, etag }) => found.get(key) !== etag);
    if (removed.length > 0) await this.#manifest.commit(base, { removed });
    this.#isChecked = true;
    return removed.length > 0;
  }

  /** Makes some of the copies that are due. Days that ended before `closed` (ms) are closed. */
  async write(closed: number): Promise<boolean> {
    const base = this.#manifest.base();
    if (base.newest === null) return false;
    const [added, removed]: [ArchiveObject[], ArchiveObject[]] = [[], []];
    for (const { replaced, make } of this.#due(base, closed)) {
      added.push(...(await make()));
      removed.push(...replaced);
      this.#objects.clear();
      if (added.length >= AT_ONCE) break;
    }
    if (added.length > 0) await this.#manifest.commit(base, { added, removed });
    return added.length > 0;
  }

  *#due(base: Base, closed: number): Generator<Due> {
    const generation = base.generation + 1;
    const byKind = Map.groupBy(base.objects, ({ kind }) => kind);
    const of = (kind: ArchiveObject['kind']) => byKind.get(kind) ?? [];
    for (const kind of ['observations', 'observations_open', ...COPIES] as const) {
      const period = kind === 'deltas' || kind === 'observations_open' ? NO_DAY : NO_MONTH;
      if (of(kind).some((one) => one.period === period)) continue;
      const draft = { kind, period, bucket: '0' };
      yield { replaced: [], make: async () => [await this.#putEmpty(draft, generation)] };
    }
    yield* this.#dueDays(of('deltas'), closed, generation);
    for (const [period, sources] of Map.groupBy(of('observations'), (one) => one.period)) {
      if (period === NO_MONTH) continue;
      const own = of('sightings').filter((one) => one.period === period);
      let isFresh = true;
      for (const [bucket, files] of Map.groupBy(sources, (source) => source.bucket)) {
        const replaced = own.filter((one) => one.bucket === bucket);
        if (newest(files) <= oldest(replaced)) continue;
        isFresh = false;
        const draft = { kind: 'sightings' as const, period, bucket };
        yield { replaced, make: async () => [await this.#put(draft, SEEN, this.#seenIn(files), generation)] };
      }
      const parts = of('sightings_by_value').filter((one) => one.period === period);
      if (!isFresh || newest(own) <= oldest(parts)) continue;
      yield { replaced: parts, make: () => this.#byValue(period, own, parts.length, generation) };
    }
  }

  /** Days whose changes were not copied yet or are different now, because the clock was set back or corrected. */
  *#dueDays(days: readonly ArchiveObject[], closed: number, generation: number): Generator<Due> {
    const { records } = this.#app.store;
    const known = new Map(days.map((one) => [one.period, one]));
    for (let next = records.deltaSpan(0, closed); next !== null; ) {
      const period = dayOf(next.first_at);
      const end = Date.parse(period) + DAY;
      const span = records.deltaSpan(Date.parse(period), end);
      const own = known.get(period);
      known.delete(period);
      if (span !== null && (own === undefined || entriesOf(span).some(([key, value]) => own[key] !== value))) {
        const make = async () => [
          {
            ...(await this.#put({ kind: 'deltas', period, bucket: '' }, CHANGES, this.#changesOf(period), generation)),
            ...span,
          },
        ];
        yield { replaced: own === undefined ? [] : [own], make };
      }
      next = records.deltaSpan(end, closed);
    }
    for (const own of known.values()) {
      if (own.rows === 0) continue;
      yield {
        replaced: [own],
        make: async () => [await this.#put({ ...own, kind: 'deltas' }, CHANGES, [], generation)],
      };
    }
  }

  *#changesOf(period: string): Generator<DeltaRow> {
    const since = Date.parse(period);
    const query = { since, until: since + DAY, rotating: 'both' } as const;
    for (let cursor = 0; ; ) {
      const rows = this.#app.store.records.deltas(query, { limit: CHUNK, order: 'oldest', cursor });
      for (const { at: changed_at, before, after, ...row } of rows) {
        const lists = { before: JSON.stringify(before), after: JSON.stringify(after) };
        yield { ...row, ...lists, changed_at, path: pathOf(row.domain), rotation: row.rotation ?? null };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      cursor = last.seq;
    }
  }

  async *#seenIn(files: readonly ArchiveObject[]): AsyncGenerator<SightingRow> {
    for (const { source } of await this.#objects.local(files.map((file) => ({ ...file, seeds: null }))))
      yield* sightingsOf(readRows(OBSERVATIONS, source, SEEN_COLUMNS));
  }

  /** A month's sightings sorted by value, in parts. Writes at least `count` parts, the number that exists already. */
  async #byValue(
    period: string,
    sightings: readonly ArchiveObject[],
    count: number,
    generation: number,
  ): Promise<ArchiveObject[]> {
    const files = await this.#objects.local(sightings);
    const rows = sorted(
      SIGHTINGS,
      rowsOf(files.map(({ source }) => readRows(SIGHTINGS, source))),
      byValue,
      this.#objects.newWork(),
    );
    const made: ArchiveObject[] = [];
    let next = await rows.next();
    const part = async function* () {
      for (let n = 0; n < PART && next.done !== true; n++) {
        yield next.value;
        next = await rows.next();
      }
    };
    while (made.length === 0 || next.done !== true || made.length < count) {
      const draft = { kind: 'sightings_by_value' as const, period, bucket: String(made.length).padStart(4, '0') };
      made.push(await this.#put(draft, SEEN, part(), generation));
    }
    return made;
  }

  /** The copies that contain rows of any of these names. */
  async having(paths: readonly string[]): Promise<ArchiveObject[]> {
    const found: ArchiveObject[] = [];
    for (const copy of this.#manifest.base().objects.filter(isCopy)) {
      const within = paths.filter((path) => path >= copy.first_path && path <= copy.last_path);
      if (within.length > 0 && (await findRows(sourceOf(this.#place, copy), ...within)) !== null) found.push(copy);
    }
    return found;
  }

  /**
   * Makes copies without the rows of these names, while observations of these months lose theirs. The months' other
   * copies are listed with the new generation, or they would count as outdated. Returns what it made, and the objects
   * that it replaces.
   */
  async without(
    paths: ReadonlySet<string>,
    having: readonly ArchiveObject[],
    months: ReadonlySet<string>,
    generation: number,
  ): Promise<{ added: ArchiveObject[]; removed: ArchiveObject[] }> {
    const keys = new Set(having.map(({ key }) => key));
    const others = this.#manifest
      .base()
      .objects.filter((one) => isOfMonth(one) && months.has(one.period) && !keys.has(one.key));
    const added = others.map((one) => ({ ...one, generation }));
    for (const old of having) {
      const [file] = await this.#objects.local([old]);
      const { source } = present(file);
      const made =
        old.kind === 'deltas'
          ? await this.#put({ ...old, kind: 'deltas' }, CHANGES, outside(paths, readRows(DELTAS, source)), generation)
          : await this.#put(
              { ...old, kind: old.kind === 'sightings' ? old.kind : 'sightings_by_value' },
              SEEN,
              outside(paths, readRows(SIGHTINGS, source)),
              generation,
            );
      const { first_seq, last_seq, first_at, last_at } = old;
      added.push({ ...made, first_seq, last_seq, first_at, last_at });
      this.#objects.clear();
    }
    return { added, removed: [...others, ...having] };
  }

  /** A file without rows: it only defines the columns. */
  async #putEmpty(draft: Draft, generation: number): Promise<ArchiveObject> {
    if (draft.kind === 'deltas') return this.#put(draft, CHANGES, [], generation);
    if (isOfMonth(draft)) return this.#put(draft, SEEN, [], generation);
    const made = await this.#put(draft, OBSERVED, [], generation);
    return draft.kind === 'observations' ? made : { ...made, publish: null };
  }

  async #put<Row extends { path: string }>(
    { kind, period, bucket }: Draft,
    { table, extent }: Shape<Row>,
    rows: Iterable<Row> | AsyncIterable<Row>,
    generation: number,
  ): Promise<ArchiveObject> {
    const made = await this.#objects.putTable({ kind, period, bucket }, { table, extent }, rows, generation);
    return { ...made, publish: `${folderOf(kind, period, bucket)}/data.parquet` };
  }
}

function isOfMonth({ kind }: Pick<ArchiveObject, 'kind'>): boolean {
  return kind === 'sightings' || kind === 'sightings_by_value';
}

async function* outside<Row extends { path: string }>(paths: ReadonlySet<string>, rows: AsyncIterable<Row>) {
  for await (const row of rows) if (!paths.has(row.path)) yield row;
}

async function* rowsOf<Row>(files: readonly AsyncIterable<Row>[]): AsyncGenerator<Row> {
  for (const rows of files) yield* rows;
}

const newest = (objects: readonly ArchiveObject[]): number => Math.max(...objects.map(({ generation }) => generation));
/** The lowest generation; -1 without objects. */
const oldest = (objects: readonly ArchiveObject[]): number =>
  objects.length === 0 ? -1 : Math.min(...objects.map(({ generation }) => generation));

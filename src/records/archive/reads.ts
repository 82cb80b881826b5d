import { type TimeCorrection, trueTime } from '../../proof/clock-note.ts';
import type { Observation } from '../../proof/records/observation.ts';
import type { AppContext } from '../../server/context.ts';
import { Busy, Fault } from '../../shared/fault.ts';
import { bucketHash, pathOf } from '../hostname.ts';
import type { ArchiveObject } from './manifest.ts';
import { observationOf, type Receipted, type StoredObservation } from './observation-row.ts';
import { type ArchiveReader, ObjectChanged, type ObjectRange } from './reader.ts';
import { seedsOf, sourceOf } from './sources.ts';

type Records = AppContext['store']['records'];
type Query = Parameters<Records['observationPage']>[1];
type Archived = NonNullable<ReturnType<Records['archivedOf']>>;

/** A host's identity in the catalog. */
export interface HostRef {
  id: number;
  hostname: string;
  registrable_domain: string | null;
}

/** A range of a host's archived observations: numbers from `first` to `last`, inclusive. */
interface Part {
  order: 'oldest' | 'newest';
  first: number;
  last: number;
  /** Objects entirely outside these times (ms) are skipped; `until` is exclusive. */
  since?: number | undefined;
  until?: number | undefined;
}

/** How many rows' texts are read at once. */
const BATCH = 100;
/** How many times a read is tried when objects are replaced meanwhile. */
const TRIES = 3;
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Reads observations from the database and the archive, with the same results before and after they are archived. Reads
 * that need the archive throw `unavailable` when it cannot be read. The archive is opened on first use.
 */
export function observationReads(
  { records, desk }: Pick<AppContext['store'], 'records' | 'desk'>,
  archive: () => ArchiveReader | null,
) {
  const corrections = (): TimeCorrection[] => desk.corrections('records', '');

  /**
   * Reads the archived range and the database as of one moment: another process may archive more between two
   * statements.
   */
  const atOnce = <T>(host: HostRef, read: (archived: Archived | null) => T): { archived: Archived | null; here: T } => {
    for (;;) {
      const archived = records.archivedOf(host.id);
      const here = read(archived);
      if (records.archivedOf(host.id)?.last_seq === archived?.last_seq) return { archived, here };
    }
  };

  /**
   * Yields what `rowsOf` returns for each archived object of a host. Looks up the objects again when one was replaced
   * meanwhile.
   */
  async function* fromObjects<Row extends { seq: number }>(
    { hostname, registrable_domain }: HostRef,
    { order, first, last, since = 0, until = LAST }: Part,
    rowsOf: (archive: ArchiveReader, object: ObjectRange, isWanted: (seq: number) => boolean) => AsyncIterable<Row>,
  ): AsyncGenerator<Row> {
    const open = archive();
    if (open === null) {
      throw new Fault('unavailable', `earlier observations of ${hostname} are in the archive; set ARCHIVE_URL to it`);
    }
    // A later correction of the clock moves observations to earlier times, but not the times listed for their objects.
    const before = corrections().length === 0 ? until : LAST;
    const bounds = { first, last };
    for (let tried = 1; ; tried++) {
      const objects = open
        .objectsFor(bucketHash(hostname, registrable_domain), pathOf(hostname))
        .filter(({ first_at, last_at }) => last_at >= since && first_at < before);
      try {
        for (const object of order === 'newest' ? objects : objects.toReversed()) {
          if (object.last_seq < bounds.first || object.first_seq > bounds.last) continue;
          for await (const row of rowsOf(open, object, (seq) => seq >= bounds.first && seq <= bounds.last)) {
            yield row;
            if (order === 'newest') bounds.last = row.seq - 1;
            else bounds.first = row.seq + 1;
          }
        }
        return;
      } catch (error) {
        if (!(error instanceof ObjectChanged)) throw error;
        if (tried === TRIES)
          throw new Busy(`the archive of ${hostname} is being rewritten, or lacks objects; try again soon`);
      }
    }
  }

  const inOrder = <Row>(rows: Row[], order: Part['order']): Row[] => (order === 'newest' ? rows.toReversed() : rows);

  /** Archived receipts. */
  const receipts = (host: HostRef, part: Part): AsyncGenerator<Receipted> =>
    fromObjects(host, part, async function* (open, object, isWanted) {
      const { receiptsIn } = await import('./observation-file.ts');
      const rows = await receiptsIn(open.source(object), pathOf(host.hostname));
      yield* inOrder(rows, part.order).filter(({ seq }) => isWanted(seq));
    });

  /** Archived observations whose corrected time (ms) passes `keeps`. */
  const observations = (host: HostRef, part: Part, keeps: (at: number) => boolean = () => true) =>
    fromObjects(host, part, async function* (open, object, isWanted): AsyncGenerator<Observation> {
      const { receiptsIn, textsIn } = await import('./observation-file.ts');
      const source = open.source(object);
      const time = timesBy(corrections());
      const rows = (await receiptsIn(source, pathOf(host.hostname))).filter(
        (row) => isWanted(row.seq) && keeps(time(row)),
      );
      // The consumer often wants only the newest observation, so the first batch has one row.
      for (let size = part.order === 'newest' ? 1 : BATCH; rows.length > 0; size = BATCH) {
        const batch = part.order === 'newest' ? rows.splice(-size) : rows.splice(0, size);
        const [start, end] = [batch[0]?.row ?? 0, (batch.at(-1)?.row ?? 0) + 1];
        const [texts, seeds] = await Promise.all([textsIn(source, start, end), open.seeds(object, start, end - start)]);
        const full = batch.map(({ row, ...receipted }) => {
          const { body = '', circumstances = '' } = texts[row - start] ?? {};
          const stored: StoredObservation = { ...receipted, body, circumstances };
          return observationOf({ ...stored, seed: seeds.subarray((row - start) * SEED, (row - start + 1) * SEED) });
        });
        yield* inOrder(full, part.order);
      }
    });

  /**
   * Throws unless all archived observations of a host were found: an incomplete archive must not yield a shorter list.
   */
  const requireAll = ({ hostname }: HostRef, { count }: Archived, found: number): void => {
    if (found === count) return;
    throw new Fault(
      'unavailable',
      `the archive has ${found} observations of ${hostname}, but ${count} left the database; check it with audit --archive`,
    );
  };

  const reads = {
    /** The newest observation at or before a time (ms), or of all times when none is given. */
    async asOf(host: HostRef, at = LAST): Promise<Observation | null> {
      const { archived, here } = atOnce(host, () => records.observation(host.id, at));
      if (here !== null || archived === null || archived.first_at > at) return here;
      const part = { order: 'newest', first: 1, last: archived.last_seq, until: at + 1 } as const;
      for await (const found of observations(host, part, (time) => time <= at)) return found;
      requireAll(host, archived, 0);
      return null;
    },
    /** An observation by its number. */
    async bySeq(host: HostRef, seq: number): Promise<Observation | null> {
      const { archived, here } = atOnce(host, () => records.observationBySeq(host.id, seq));
      if (here !== null || archived === null || seq > archived.last_seq) return here;
      for await (const found of observations(host, { order: 'newest', first: seq, last: seq })) return found;
      return null;
    },
    /** A page of a host's observations, oldest first. */
    async page(host: HostRef, query: Query, limit: number): Promise<Observation[]> {
      const { since = 0, until = LAST, after } = query;
      const { archived, here } = atOnce(host, (archived) => {
        const isHere = after === undefined || after.seq > (archived?.last_seq ?? 0);
        return records.observationPage(host.id, isHere ? query : { since, until }, limit);
      });
      const from = after === undefined ? since : 0;
      if (archived === null || (after?.seq ?? 0) >= archived.last_seq || from > archived.last_at) return here;
      const part = {
        order: 'oldest',
        first: (after?.seq ?? 0) + 1,
        last: archived.last_seq,
        since: from,
        until,
      } as const;
      const page: Observation[] = [];
      for await (const found of observations(host, part, (at) => at >= from && at < until)) {
        page.push(found);
        if (page.length === limit) return page;
      }
      if (after === undefined && from === 0 && until === LAST) requireAll(host, archived, page.length);
      return [...page, ...here].slice(0, limit);
    },
    /** The number of observations of a host in a period. */
    async countBetween(host: HostRef, { since = 0, until = LAST }: Query): Promise<number> {
      if (since === 0 && until === LAST) return records.observationCount(host.id);
      const { archived, here } = atOnce(host, () => records.observationsBetween(host.id, { since, until }));
      if (archived === null || since > archived.last_at || until <= archived.first_at) return here;
      const part = { order: 'oldest', first: 1, last: archived.last_seq, since, until } as const;
      const time = timesBy(corrections());
      const times = fromObjects(host, part, async function* (open, object, isWanted) {
        const { timesIn } = await import('./observation-file.ts');
        yield* (await timesIn(open.source(object), pathOf(host.hostname))).filter(({ seq }) => isWanted(seq));
      });
      let count = here;
      for await (const row of times) if (time(row) >= since && time(row) < until) count++;
      return count;
    },
    /** A host's receipts, newest first, optionally only those before the given one. */
    async provenance(host: HostRef, limit: number, before = LAST) {
      const { archived, here } = atOnce(host, (archived) =>
        before > (archived?.last_seq ?? 0) ? records.provenance(host.id, limit, before) : [],
      );
      if (archived === null || here.length >= limit) return here;
      const part = { order: 'newest', first: 1, last: Math.min(archived.last_seq, before - 1) } as const;
      const page = [...here];
      for await (const { seq, observed_at, signed_at, receipt } of receipts(host, part)) {
        page.push({ seq, observed_at: signed_at ?? observed_at, receipt });
        if (page.length === limit) return page;
      }
      if (before > archived.last_seq) requireAll(host, archived, page.length - here.length);
      return page;
    },
    /** The signed time of the observation before number `seq`, in ms; null for the first. */
    async timeBefore(host: HostRef, seq: number): Promise<number | null> {
      const { archived, here } = atOnce(host, (archived) =>
        seq > (archived?.last_seq ?? 0) ? records.provenance(host.id, 1, seq) : [],
      );
      if (here.length === 0 && archived !== null && seq > archived.last_seq) return archived.last_at;
      const [earlier] = here.length > 0 ? here : await reads.provenance(host, 1, seq);
      return earlier?.observed_at ?? null;
    },
    /** All of a host's observations, oldest first, including those made while it iterates. */
    async *all(host: HostRef): AsyncGenerator<Observation> {
      const archived = records.archivedOf(host.id);
      let after: { at: number; seq: number } | undefined;
      const pass = (one: Observation): Observation => {
        after = { at: Date.parse(one.record.observed_at), seq: one.seq };
        return one;
      };
      if (archived !== null) {
        let found = 0;
        for await (const one of observations(host, { order: 'oldest', first: 1, last: archived.last_seq })) {
          found++;
          yield pass(one);
        }
        requireAll(host, archived, found);
      }
      for (;;) {
        const page = await reads.page(host, { after }, BATCH);
        for (const one of page) yield pass(one);
        if (page.length < BATCH) return;
      }
    },
  };
  return reads;
}

export type ObservationReads = ReturnType<typeof observationReads>;

/** The observation reads of an app, including its archive. */
export function readsOf(app: Pick<AppContext, 'store' | 'archive'>): ObservationReads {
  return observationReads(app.store, () => {
    const place = app.archive;
    if (place === null) return null;
    return {
      objectsFor: app.store.records.archive.objectsFor,
      source: (object: ArchiveObject) => sourceOf(place, object),
      seeds: (object: ArchiveObject, row, count) => seedsOf(place, object, row, count),
    } as ArchiveReader;
  });
}

const SEED = 32;

/**
 * Returns a function for an observation's corrected time, in ms. An archived file does not know corrections made after
 * it was written.
 */
export function timesBy(corrections: readonly TimeCorrection[]) {
  return ({ seq, observed_at, signed_at }: { seq: number; observed_at: number; signed_at: number | null }): number =>
    corrections.length === 0
      ? observed_at
      : Math.min(observed_at, trueTime(signed_at ?? observed_at, seq, corrections));
}

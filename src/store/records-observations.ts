import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Observation } from '../records/observation.ts';
import { partsOf, recordFromParts } from '../records/record-parts.ts';
import { isoTime } from '../time.ts';
import type { Db } from './open.ts';

interface ObservationRow {
  seq: number;
  observed_at: number;
  body: string;
  circumstances: string;
  seed: Uint8Array;
  receipt: string;
  receipt_hash: string;
}

/** One line of a domain's provenance. */
export interface ProvenanceItem {
  seq: number;
  /** Ms. */
  observed_at: number;
  receipt: string;
}

/** Which observations of a host: `since` is within, `until` is not; ms. `after` is the last one of the page before. */
export interface ObservationQuery {
  since?: number | undefined;
  until?: number | undefined;
  after?: { at: number; seq: number } | undefined;
}

const LAST = Number.MAX_SAFE_INTEGER;

/** What an observation is of. */
interface ObservationPlace {
  hostname: string;
  /** Ms. */
  observed_at: number;
}

const FROM = `SELECT seq, observed_at, record_bodies.body, circumstances, seed, receipt, receipt_hash
  FROM observations CROSS JOIN record_bodies ON record_bodies.id = observations.body`;

/** Observations: written in order, never changed. `host` is a hostname's id; times in ms. */
export function observationTable(db: Db) {
  const newest = db.prepare('SELECT max(seq) AS seq FROM observations');
  const addBody = db.prepare('INSERT INTO record_bodies (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const bodyId = db.prepare('SELECT id FROM record_bodies WHERE digest = ?');
  const add = db.prepare('INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const asOf = db.prepare(`${FROM} WHERE host = ? AND observed_at <= ? ORDER BY observed_at DESC, seq DESC LIMIT 1`);
  const bySeq = db.prepare(`${FROM} WHERE seq = ? AND host = ?`);
  const provenance = db.prepare(
    `SELECT seq, observed_at, receipt FROM observations
     WHERE host = ?1 AND (observed_at, seq) < (coalesce((SELECT observed_at FROM observations WHERE seq = ?2), 9e15), ?2)
     ORDER BY observed_at DESC, seq DESC LIMIT ?3`,
  );
  const count = db.prepare('SELECT count(*) AS count FROM observations WHERE host = ?');
  const ofHost = db.prepare(`${FROM} WHERE host = ? ORDER BY observed_at, seq`);
  const page = db.prepare(
    `${FROM} WHERE host = ?1 AND (observed_at, seq) > (?2, ?3) AND observed_at < ?4 ORDER BY observed_at, seq LIMIT ?5`,
  );
  const countBetween = db.prepare(
    'SELECT count(*) AS count FROM observations WHERE host = ? AND observed_at >= ? AND observed_at < ?',
  );
  const total = db.prepare('SELECT count(*) AS count FROM observations');
  const shownAt = (where: string) =>
    db.prepare(
      `SELECT hostname, observed_at FROM observations CROSS JOIN hostnames ON hostnames.id = observations.host
       WHERE ${where} AND state <> 'opted_out'`,
    );
  const placeBySeq = shownAt('observations.seq = ?');
  const placeByHash = shownAt('substr(receipt_hash, 8, 12) = substr(?1, 8, 12) AND receipt_hash = ?1');
  const first = db.prepare(
    'SELECT observed_at AS at FROM observations WHERE host = ? ORDER BY observed_at, seq LIMIT 1',
  );

  return {
    /** The number of the next observation. */
    nextSeq: (): number => ((newest.get() as { seq: number | null }).seq ?? 0) + 1,
    addObservation(host: number, { seq, record, seed, receipt, receipt_hash }: Observation): void {
      const { body, circumstances } = partsOf(record);
      const text = canonicalize(body) as string;
      const digest = createHash('sha256').update(text).digest();
      addBody.run(digest, text);
      // A single object would be read as named parameters.
      const { id } = bodyId.get([digest]) as { id: number };
      const at = Date.parse(record.observed_at);
      add.run(seq, host, at, id, JSON.stringify(circumstances), Buffer.from(seed), receipt, receipt_hash);
    },
    /** The newest observation at or before a time; the newest of all without one. */
    observation: (host: number, at: number = Number.MAX_SAFE_INTEGER): Observation | null =>
      read(asOf.get(host, at) as ObservationRow | undefined),
    /** When a host was first observed, in ms; null when it never was. */
    firstObservedAt: (host: number): number | null => (first.get(host) as { at: number } | undefined)?.at ?? null,
    observationBySeq: (host: number, seq: number): Observation | null =>
      read(bySeq.get(seq, host) as ObservationRow | undefined),
    /** A host's receipts before one, newest first; without one from the newest on. */
    provenance: (host: number, limit: number, before: number = Number.MAX_SAFE_INTEGER): ProvenanceItem[] =>
      provenance.all(host, before, limit) as ProvenanceItem[],
    /** Of which shown hostname, and when, the observation of a number is; null when there is none. */
    observationPlace: (seq: number): ObservationPlace | null => (placeBySeq.all(seq) as ObservationPlace[])[0] ?? null,
    /** The same by the hash of the receipt's signed text, `sha256:<hex>`. */
    receiptPlace: (hash: string): ObservationPlace | null => (placeByHash.all(hash) as ObservationPlace[])[0] ?? null,
    observationCount: (host: number): number => (count.get(host) as { count: number }).count,
    /** A page of a host's observations, oldest first. */
    observationPage: (
      host: number,
      { since = 0, until = LAST, after }: ObservationQuery,
      limit: number,
    ): Observation[] => {
      // The numbers begin with 1: before the first of a time stands its zero.
      const { at, seq } = after ?? { at: since, seq: 0 };
      return (page.all(host, at, seq, until, limit) as ObservationRow[]).map((row) => read(row) as Observation);
    },
    /** How many observations of a host there are in a span. */
    observationsBetween: (host: number, { since = 0, until = LAST }: ObservationQuery): number =>
      (countBetween.get(host, since, until) as { count: number }).count,
    /** All of a host's observations, oldest first, one at a time. */
    *observationsOf(host: number): Iterable<Observation> {
      for (const row of ofHost.iterate(host) as Iterable<ObservationRow>) yield read(row) as Observation;
    },
    /** How many there are, and the highest number: they are the same unless one is missing. */
    observationTotals: (): { count: number; newest: number } => ({
      count: (total.get() as { count: number }).count,
      newest: (newest.get() as { seq: number | null }).seq ?? 0,
    }),
  };
}

function read(row: ObservationRow | undefined): Observation | null {
  if (row === undefined) return null;
  const { seq, observed_at, body, circumstances, seed, receipt, receipt_hash } = row;
  const parts = { body: JSON.parse(body), circumstances: JSON.parse(circumstances) };
  const record = recordFromParts(parts, isoTime(observed_at));
  return { seq, record, seed: new Uint8Array(seed), receipt, receipt_hash };
}

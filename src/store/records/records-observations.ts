import canonicalize from 'canonicalize';
import type { Observation } from '../../proof/records/observation.ts';
import {
  damaged,
  observationOf as parsedObservation,
  type Seeded,
  type StoredObservation,
} from '../../records/archive/observation-row.ts';
import { partsOf } from '../../records/record.ts';
import { caught } from '../../shared/fault.ts';
import { bytes, type Db, integer, type Read, sql, text } from '../../shared/sql/sql.ts';
import { bodyTables, RECORD, RECORD_COLUMNS, RECORD_TABLES, recordTexts } from './records-bodies.ts';
import { RECEIPT, RECEIPT_COLUMNS, RECEIPT_HASH, RECEIPT_TABLES, receiptOf, receiptTable } from './records-receipts.ts';

const OBSERVATION = { ...RECORD, ...RECEIPT, seed: bytes, receipt_hash: text };

/**
 * Selects a host's observations. `since` is inclusive, `until` exclusive, in ms; `after` is the last one of the
 * previous page.
 */
interface ObservationQuery {
  since?: number | undefined;
  until?: number | undefined;
  after?: { at: number; seq: number } | undefined;
}

const LAST = Number.MAX_SAFE_INTEGER;

const FROM = `SELECT ${RECORD_COLUMNS}, ${RECEIPT_COLUMNS}, seed, ${RECEIPT_HASH} AS receipt_hash
  FROM observations ${RECORD_TABLES} ${RECEIPT_TABLES}`;

/**
 * Observations: appended in order, never changed. `host` is a hostname's id; times in ms. Queries use the times after
 * corrections of the clock, while records and receipts contain the signed times.
 */
export function observationTable(db: Db) {
  const { insert, one, number, all, each } = sql(db);
  const newest = number('SELECT max(seq) FROM observations');
  const { keepRecord } = bodyTables(db);
  const { keepReceipt } = receiptTable(db);
  const add = insert('observations', {
    ...{ seq: integer, host: integer, observed_at: integer, seed: bytes },
    ...{ body: integer, patch: integer, circumstances: text, shared: integer, receipt: text, receipt_hash: text },
    ...{ signer: integer, fields: integer, root: bytes, prev: bytes, hash: bytes, signature: bytes },
  });
  const asOf = one(
    `${FROM} WHERE host = ? AND observed_at <= ? ORDER BY observed_at DESC, observations.seq DESC LIMIT 1`,
    OBSERVATION,
    observationOf,
  );
  const bySeq = one(`${FROM} WHERE observations.seq = ? AND host = ?`, OBSERVATION, observationOf);
  const receiptIn = (table: string) =>
    one(
      `SELECT ${RECEIPT_COLUMNS} FROM ${table} ${RECEIPT_TABLES} WHERE observations.seq = ? AND host = ?`,
      RECEIPT,
      receiptOf,
    );
  const receiptHere = receiptIn('observations');
  const receiptKept = receiptIn('kept_receipts AS observations');
  const provenance = all(
    `SELECT ${RECEIPT_COLUMNS} FROM observations ${RECEIPT_TABLES}
     WHERE host = ?1 AND (observed_at, observations.seq) < (coalesce((SELECT observed_at FROM observations WHERE seq = ?2), 9e15), ?2)
     ORDER BY observed_at DESC, observations.seq DESC LIMIT ?3`,
    RECEIPT,
    (row) => ({ seq: row.seq, observed_at: row.signed_at ?? row.observed_at, receipt: receiptOf(row) }),
  );
  const stored = each(
    `${FROM} WHERE host = ? AND observations.seq BETWEEN ? AND ? ORDER BY observed_at, observations.seq`,
    OBSERVATION,
  );
  const ofHost = each(`${FROM} WHERE host = ? ORDER BY observed_at, observations.seq`, OBSERVATION);
  const page = all(
    `${FROM} WHERE host = ?1 AND (observed_at, observations.seq) > (coalesce((SELECT observed_at FROM observations WHERE seq = ?3), ?2), ?3) AND observed_at < ?4 ORDER BY observed_at, observations.seq LIMIT ?5`,
    OBSERVATION,
    observationOf,
  );
  const countBetween = number(
    'SELECT count(*) FROM observations WHERE host = ? AND observed_at >= ? AND observed_at < ?',
  );
  const total = number('SELECT count(*) FROM observations');
  const shownAt = (where: string) =>
    one(
      `SELECT hostname, observed_at FROM observations CROSS JOIN hostnames ON hostnames.id = observations.host
       WHERE ${where} AND state <> 'opted_out'`,
      { hostname: text, observed_at: integer },
    );

  return {
    /** The number of the next observation. */
    nextSeq: (): number => newest() + 1,
    addObservation(host: number, { seq, record, seed, receipt, receipt_hash }: Observation): void {
      const { body, circumstances } = partsOf(record);
      const observed_at = Date.parse(record.observed_at);
      add({
        ...{ seq, host, observed_at, seed },
        ...keepRecord(host, canonicalize(body) ?? '', circumstances),
        ...keepReceipt({ seq, hostname: record.domain, observed_at }, receipt, receipt_hash),
      });
    },
    /** The newest observation at or before a time; without a time, the newest. */
    observation: (host: number, at = LAST): Observation | null => asOf(host, at),
    /** When a host was first observed; null if never. */
    firstObservedAt: one(
      `SELECT first_at AS at FROM archived_hosts WHERE host = ?1
       UNION ALL SELECT * FROM (SELECT observed_at FROM observations WHERE host = ?1 ORDER BY observed_at, seq LIMIT 1)
       LIMIT 1`,
      integer,
    ),
    /**
     * What the archive has of a host; null for nothing. It has the observations up to `last_seq`; later ones are in the
     * database. `first_at` is corrected, `last_at` is the signed time (ms).
     */
    archivedOf: one('SELECT count, first_at, last_at, last_seq FROM archived_hosts WHERE host = ?', {
      count: integer,
      first_at: integer,
      last_at: integer,
      last_seq: integer,
    }),
    /** The receipt of an observation that an expectation's event refers to, also after the observation was archived. */
    eventReceipt: (host: number, seq: number): string | null => receiptHere(seq, host) ?? receiptKept(seq, host),
    observationBySeq: (host: number, seq: number): Observation | null => bySeq(seq, host),
    /** A host's receipts, newest first, optionally only those before the given one. */
    provenance: (host: number, limit: number, before = LAST) => provenance(host, before, limit),
    /** The shown hostname and the time of an observation, by number; null if not found. */
    observationLocation: shownAt('observations.seq = ?'),
    /** The same, by the hash of the receipt's signed text, `sha256:<hex>`. */
    receiptLocation: shownAt(`substr(receipt_hash, 8, 12) = substr(?1, 8, 12) AND ${RECEIPT_HASH} = ?1`),
    /** The number of a host's observations in the database and the archive. */
    observationCount: number(
      `SELECT (SELECT count(*) FROM observations WHERE host = ?1)
         + coalesce((SELECT count FROM archived_hosts WHERE host = ?1), 0)`,
    ),
    /** A page of a host's observations, oldest first. */
    observationPage(host: number, { since = 0, until = LAST, after }: ObservationQuery, limit: number): Observation[] {
      // Numbers start at 1, so 0 precedes every observation.
      const { at, seq } = after ?? { at: since, seq: 0 };
      return page(host, at, seq, until, limit);
    },
    /** The number of a host's observations in a period, in the database. */
    observationsBetween: (host: number, { since = 0, until = LAST }: ObservationQuery): number =>
      countBetween(host, since, until),
    /** All of a host's observations, oldest first, one at a time. */
    *observationsOf(host: number): Iterable<Observation> {
      for (const row of ofHost(host)) yield observationOf(row);
    },
    /** A host's observations from `first` to `last`, inclusive, in stored form, oldest first. */
    *storedObservations(host: number, first: number, last: number): Iterable<StoredObservation & Seeded> {
      for (const row of stored(host, first, last)) yield storedOf(row);
    },
    /** A page of receipts by number, starting at a number. */
    receipts: all(
      `SELECT ${RECEIPT_COLUMNS} FROM observations ${RECEIPT_TABLES} WHERE observations.seq >= ? ORDER BY observations.seq LIMIT ?`,
      RECEIPT,
      receiptOf,
    ),
    /** The number of observations and the highest number. They differ only if an observation is missing. */
    observationTotals: () => ({ count: total(), newest: newest() }),
  };
}

function observationOf(row: Read<typeof OBSERVATION>): Observation {
  return parsedObservation(storedOf(row));
}

function storedOf(row: Read<typeof OBSERVATION>): StoredObservation & Seeded {
  const { seq, hostname, observed_at, signed_at, seed, receipt_hash } = row;
  const texts = caught(Error, () => recordTexts(row));
  if (texts instanceof Error) throw damaged(seq, texts);
  return { seq, hostname, observed_at, signed_at, ...texts, receipt: receiptOf(row), receipt_hash, seed };
}

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Observation } from '../../proof/records/observation.ts';
import { isoTime } from '../../proof/time.ts';
import { partsOf, type RecordParts, recordFromParts } from '../../records/record.ts';
import { bytes, type Db, integer, json, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

const OBSERVATION = {
  seq: integer,
  observed_at: integer,
  signed_at: orNull(integer),
  body: json<RecordParts['body']>(),
  circumstances: json<RecordParts['circumstances']>(),
  seed: bytes,
  receipt: text,
  receipt_hash: text,
};

/**
 * Selects a host's observations. `since` is inclusive, `until` exclusive, in ms; `after` is the last of the previous
 * page.
 */
interface ObservationQuery {
  since?: number | undefined;
  until?: number | undefined;
  after?: { at: number; seq: number } | undefined;
}

const LAST = Number.MAX_SAFE_INTEGER;

const FROM = `SELECT seq, observed_at, signed_at, record_bodies.body, circumstances, seed, receipt, receipt_hash
  FROM observations CROSS JOIN record_bodies ON record_bodies.id = observations.body`;

/**
 * Observations: appended in order, never changed. `host` is a hostname's id; times in ms. They are found by the times
 * that count, after corrections of the clock; records and receipts say what was signed.
 */
export function observationTable(db: Db) {
  const { run, one, number, all, each } = sql(db);
  const newest = number('SELECT max(seq) FROM observations');
  const addBody = run('INSERT INTO record_bodies (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const bodyId = one('SELECT id FROM record_bodies WHERE digest = ?', integer);
  const add = run(`INSERT INTO observations (seq, host, observed_at, body, circumstances, seed, receipt, receipt_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const asOf = one(
    `${FROM} WHERE host = ? AND observed_at <= ? ORDER BY observed_at DESC, seq DESC LIMIT 1`,
    OBSERVATION,
    observationOf,
  );
  const bySeq = one(`${FROM} WHERE seq = ? AND host = ?`, OBSERVATION, observationOf);
  const provenance = all(
    `SELECT seq, coalesce(signed_at, observed_at) AS observed_at, receipt FROM observations
     WHERE host = ?1 AND (observations.observed_at, seq) < (coalesce((SELECT observed_at FROM observations WHERE seq = ?2), 9e15), ?2)
     ORDER BY observations.observed_at DESC, seq DESC LIMIT ?3`,
    { seq: integer, observed_at: integer, receipt: text },
  );
  const ofHost = each(`${FROM} WHERE host = ? ORDER BY observed_at, seq`, OBSERVATION);
  const page = all(
    `${FROM} WHERE host = ?1 AND (observed_at, seq) > (coalesce((SELECT observed_at FROM observations WHERE seq = ?3), ?2), ?3) AND observed_at < ?4 ORDER BY observed_at, seq LIMIT ?5`,
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
      const signed = canonicalize(body) ?? '';
      const digest = createHash('sha256').update(signed).digest();
      addBody(digest, signed);
      const at = Date.parse(record.observed_at);
      add(seq, host, at, bodyId(digest), JSON.stringify(circumstances), seed, receipt, receipt_hash);
    },
    /** The newest observation at or before a time, or of all times when none is given. */
    observation: (host: number, at = LAST): Observation | null => asOf(host, at),
    /** When a host was first observed; null if never. */
    firstObservedAt: one(
      'SELECT observed_at AS at FROM observations WHERE host = ? ORDER BY observed_at, seq LIMIT 1',
      integer,
    ),
    observationBySeq: (host: number, seq: number): Observation | null => bySeq(seq, host),
    /** A host's receipts, newest first, optionally only those before the given one. */
    provenance: (host: number, limit: number, before = LAST) => provenance(host, before, limit),
    /** The shown hostname and the time of an observation, by its number; null when none is found. */
    observationLocation: shownAt('observations.seq = ?'),
    /** The same, by the hash of the receipt's signed text, `sha256:<hex>`. */
    receiptLocation: shownAt('substr(receipt_hash, 8, 12) = substr(?1, 8, 12) AND receipt_hash = ?1'),
    observationCount: number('SELECT count(*) FROM observations WHERE host = ?'),
    /** A page of a host's observations, oldest first. */
    observationPage(host: number, { since = 0, until = LAST, after }: ObservationQuery, limit: number): Observation[] {
      // Numbers start at 1, so 0 precedes every observation.
      const { at, seq } = after ?? { at: since, seq: 0 };
      return page(host, at, seq, until, limit);
    },
    /** The number of observations of a host in a period. */
    observationsBetween: (host: number, { since = 0, until = LAST }: ObservationQuery): number =>
      countBetween(host, since, until),
    /** All of a host's observations, oldest first, one at a time. */
    *observationsOf(host: number): Iterable<Observation> {
      for (const row of ofHost(host)) yield observationOf(row);
    },
    /** At most so many receipts by their numbers, from a number on. */
    receipts: all('SELECT receipt FROM observations WHERE seq >= ? ORDER BY seq LIMIT ?', text),
    /** The number of observations and the highest number. They differ only if an observation is missing. */
    observationTotals: () => ({ count: total(), newest: newest() }),
  };
}

function observationOf(row: Read<typeof OBSERVATION>): Observation {
  const { body, circumstances, observed_at, signed_at, ...rest } = row;
  const record = recordFromParts({ body, circumstances }, isoTime(signed_at ?? observed_at));
  return { ...rest, record };
}

import { createHash } from 'node:crypto';
import type { IndexedValue, ValueSighting } from '../records/value-search.ts';
import { valueWords } from '../records/value-words.ts';
import type { Db } from './open.ts';

/** How many sightings are taken in one transaction: others wait for it some milliseconds. */
const BATCH = 200;
/** As much of a value as `sightings_by_value` finds it by, in characters. */
const FOUND_BY = 64;

interface Waiting {
  host: number;
  signal: string;
  value: string;
}

/** The index of the words of all values that were ever seen. */
export function valueTables(db: Db, transact: <T>(work: () => T) => T) {
  const isWaiting = db.prepare(
    'SELECT 1 WHERE EXISTS (SELECT 1 FROM values_to_index) OR EXISTS (SELECT 1 FROM values_before)',
  );
  const waiting = db.prepare('SELECT id, host, signal, value FROM values_to_index ORDER BY id LIMIT ?');
  const taken = db.prepare('DELETE FROM values_to_index WHERE id <= ?');
  const reached = db.prepare('SELECT host, signal, value, last_host FROM values_before');
  const before = db.prepare(
    `SELECT host, signal, value FROM sightings WHERE (host, signal, value) > (?, ?, ?) AND host <= ?
     ORDER BY host, signal, value LIMIT ?`,
  );
  const goOn = db.prepare('UPDATE values_before SET host = ?, signal = ?, value = ?');
  const allTaken = db.prepare('DELETE FROM values_before');
  const add = db.prepare(
    'INSERT INTO searched_values (digest, host, signal, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id',
  );
  const index = db.prepare('INSERT INTO value_words (rowid, words) VALUES (?, ?)');
  const match = db.prepare(
    `SELECT v.id, v.host, v.signal, v.value FROM value_words CROSS JOIN searched_values v ON v.id = value_words.rowid
     WHERE value_words MATCH ? AND value_words.rowid >= ? ORDER BY value_words.rowid LIMIT ?`,
  );
  const SIGHTING = 'sightings.host, hostname, signal, value, first_seen, last_seen, count';
  const ofValue = db.prepare(
    `SELECT ${SIGHTING} FROM sightings CROSS JOIN hostnames ON hostnames.id = sightings.host
     WHERE substr(value, 1, ${FOUND_BY}) = substr(?1, 1, ${FOUND_BY}) AND value = ?1
       AND (sightings.host, signal) > (?2, ?3) AND state <> 'opted_out'
     ORDER BY sightings.host, signal LIMIT ?4`,
  );
  const at = db.prepare(
    `SELECT ${SIGHTING} FROM sightings CROSS JOIN hostnames ON hostnames.id = sightings.host
     WHERE sightings.host = ? AND signal = ? AND value = ? AND state <> 'opted_out'`,
  );

  /** Values that were not there, with their ids: FTS5 writes the words of a transaction together when nothing comes between. */
  const enter = (values: Waiting[]): void => {
    const news: { id: number; value: string }[] = [];
    for (const { host, signal, value } of values) {
      const own = value.length < FOUND_BY ? [null, null] : [host, signal];
      const digest = createHash('sha256')
        .update(JSON.stringify([...own, value]))
        .digest()
        .subarray(0, 12);
      const [added] = add.all([digest, ...own, value]) as { id: number }[];
      if (added !== undefined) news.push({ id: added.id, value });
    }
    for (const { id, value } of news) index.run(id, valueWords(value));
  };

  return {
    /**
     * Puts some of the values that wait into the index, those of a database from
     * before it last. Whether more wait.
     */
    indexValues(): boolean {
      if (isWaiting.get() === undefined) return false;
      return transact(() => {
        const fresh = waiting.all(BATCH) as (Waiting & { id: number })[];
        enter(fresh);
        const last = fresh.at(-1);
        if (last !== undefined) {
          taken.run(last.id);
          return true;
        }
        const [place] = reached.all() as (Waiting & { last_host: number })[];
        if (place === undefined) return false;
        const old = before.all(place.host, place.signal, place.value, place.last_host, BATCH) as Waiting[];
        enter(old);
        const end = old.at(-1);
        if (end === undefined) allTaken.run();
        else goOn.run(end.host, end.signal, end.value);
        return end !== undefined;
      });
    },
    valuesThatMatch: (query: string, from: number, limit: number): IndexedValue[] =>
      match.all(query, from, limit) as IndexedValue[],
    sightingsOf: (value: string, after: { host: number; signal: string }, limit: number): ValueSighting[] =>
      ofValue.all(value, after.host, after.signal, limit) as ValueSighting[],
    sightingAt: (host: number, signal: string, value: string): ValueSighting | null =>
      (at.all(host, signal, value) as ValueSighting[])[0] ?? null,
  };
}

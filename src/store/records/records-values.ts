import { createHash } from 'node:crypto';
import { valueWords } from '../../records/value-search.ts';
import { type Db, integer, orNull, type Read, sql, type Transact, text } from '../../shared/sql/sql.ts';
import { SIGNAL } from './records-deltas.ts';

/** How many sightings one transaction indexes; it blocks other writers for a few milliseconds. */
const BATCH = 200;
/** The length of the prefix that `sightings_by_value` indexes, in characters. */
const FOUND_BY = 64;

const WAITING = { host: integer, signal: text, value: text };
type Waiting = Read<typeof WAITING>;

/** The index of words in all values ever seen. */
export function valueTables(db: Db, transact: Transact) {
  const { run, one, has, all } = sql(db);
  const isWaiting = has(
    'SELECT 1 WHERE EXISTS (SELECT 1 FROM values_to_index) OR EXISTS (SELECT 1 FROM values_before)',
  );
  const waiting = all('SELECT id, host, signal, value FROM values_to_index ORDER BY id LIMIT ?', {
    id: integer,
    ...WAITING,
  });
  const taken = run('DELETE FROM values_to_index WHERE id <= ?');
  const reached = one('SELECT host, signal, value, last_host FROM values_before', { ...WAITING, last_host: integer });
  const before = all(
    `SELECT host, signal, value FROM sightings WHERE (host, signal, value) > (?, ?, ?) AND host <= ?
     ORDER BY host, signal, value LIMIT ?`,
    WAITING,
  );
  const goOn = run('UPDATE values_before SET host = ?, signal = ?, value = ?');
  const allTaken = run('DELETE FROM values_before');
  const add = one(
    'INSERT INTO searched_values (digest, host, signal, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id',
    integer,
  );
  const index = run('INSERT INTO value_words (rowid, words) VALUES (?, ?)');
  const SIGHTING = {
    host: integer,
    hostname: text,
    signal: SIGNAL,
    value: text,
    first_seen: integer,
    last_seen: integer,
    count: integer,
  };
  const COLUMNS = 'sightings.host, hostname, signal, value, first_seen, last_seen, count';
  const ofValue = all(
    `SELECT ${COLUMNS} FROM sightings CROSS JOIN hostnames ON hostnames.id = sightings.host
     WHERE substr(value, 1, ${FOUND_BY}) = substr(?1, 1, ${FOUND_BY}) AND value = ?1
       AND (sightings.host, signal) > (?2, ?3) AND state <> 'opted_out'
     ORDER BY sightings.host, signal LIMIT ?4`,
    SIGHTING,
  );

  /**
   * Adds new values, then their words: FTS5 writes the words of a transaction together if no other statement
   * intervenes.
   */
  const enter = (values: Waiting[]): void => {
    const news: { id: number; value: string }[] = [];
    for (const { host, signal, value } of values) {
      const own = value.length < FOUND_BY ? [null, null] : [host, signal];
      const digest = createHash('sha256')
        .update(JSON.stringify([...own, value]))
        .digest()
        .subarray(0, 12);
      const added = add(digest, ...own, value);
      if (added !== null) news.push({ id: added, value });
    }
    for (const { id, value } of news) index(id, valueWords(value));
  };

  return {
    /** Indexes some of the waiting values, those from before an upgrade last. Returns whether more are waiting. */
    indexValues(): boolean {
      if (!isWaiting()) return false;
      return transact(() => {
        const fresh = waiting(BATCH);
        enter(fresh);
        const last = fresh.at(-1);
        if (last !== undefined) {
          taken(last.id);
          return true;
        }
        const position = reached();
        if (position === null) return false;
        const old = before(position.host, position.signal, position.value, position.last_host, BATCH);
        enter(old);
        const end = old.at(-1);
        if (end === undefined) allTaken();
        else goOn(end.host, end.signal, end.value);
        return end !== undefined;
      });
    },
    valuesThatMatch: all(
      `SELECT v.id, v.host, v.signal, v.value FROM value_words CROSS JOIN searched_values v ON v.id = value_words.rowid
       WHERE value_words MATCH ? AND value_words.rowid >= ? ORDER BY value_words.rowid LIMIT ?`,
      { id: integer, host: orNull(integer), signal: orNull(text), value: text },
    ),
    sightingsOf: (value: string, after: { host: number; signal: string }, limit: number) =>
      ofValue(value, after.host, after.signal, limit),
    sightingAt: one(
      `SELECT ${COLUMNS} FROM sightings CROSS JOIN hostnames ON hostnames.id = sightings.host
       WHERE sightings.host = ? AND signal = ? AND value = ? AND state <> 'opted_out'`,
      SIGHTING,
    ),
  };
}

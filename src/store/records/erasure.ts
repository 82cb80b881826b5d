import { valueWords } from '../../records/value-search.ts';
import { type Db, integer, orNull, sql, text } from '../../shared/sql/sql.ts';
import type { archiveTables } from './archive.ts';

/** How many messages are read at a time. */
const BATCH = 500;

function mentions(body: string, hostnames: ReadonlySet<string>): boolean {
  return body.split(/[^a-z0-9._-]/i).some((word) => {
    const name = word.toLowerCase();
    return hostnames.has(name) || (name.endsWith('.') && hostnames.has(name.slice(0, -1)));
  });
}

/** Erases a host's observed data. The host and the numbers of its observations and changes stay. */
export function erasureTables(db: Db, archive: Pick<ReturnType<typeof archiveTables>, 'throughGate' | 'bury'>) {
  const { run, one, all } = sql(db);
  const values = all('SELECT DISTINCT value FROM sightings WHERE host = ?', text);
  const searched = all(
    `SELECT id, value FROM searched_values WHERE host = ?1
     UNION ALL
     SELECT id, value FROM searched_values WHERE host IS NULL AND value IN (SELECT value FROM json_each(?2))
       AND NOT EXISTS (
         SELECT 1 FROM sightings
         WHERE substr(sightings.value, 1, 64) = searched_values.value AND sightings.value = searched_values.value)`,
    { id: integer, value: text },
  );
  const unsearch = run('DELETE FROM searched_values WHERE id = ?');
  // Otherwise the index keeps the words until it merges its segments.
  const forgetWords = run("INSERT INTO value_words (value_words, rank) VALUES ('secure-delete', 1)");
  const unword = run("INSERT INTO value_words (value_words, rowid, words) VALUES ('delete', ?, ?)");
  const forget = [
    'UPDATE hostnames SET seq = NULL, lease = NULL, leased_by = NULL WHERE id = ?',
    'DELETE FROM damaged_observations WHERE seq IN (SELECT seq FROM observations WHERE host = ?)',
    'DELETE FROM damaged_hosts WHERE host = ?',
    // A body contains its hostname, so no other host shares it.
    'DELETE FROM body_patches WHERE base IN (SELECT body FROM observations WHERE host = ?)',
    'DELETE FROM record_bodies WHERE id IN (SELECT body FROM observations WHERE host = ?)',
    'DELETE FROM observations WHERE host = ?',
    'DELETE FROM kept_receipts WHERE host = ?',
    `DELETE FROM expectation_notices WHERE event IN (
       SELECT n FROM expectation_events WHERE hostname = (SELECT hostname FROM hostnames WHERE id = ?))`,
    'DELETE FROM expectation_events WHERE hostname = (SELECT hostname FROM hostnames WHERE id = ?)',
    `UPDATE expectations SET state = 'unknown', since = NULL, observation = NULL, seen = NULL
       WHERE hostname = (SELECT hostname FROM hostnames WHERE id = ?)`,
    `UPDATE planned_values SET observation = NULL WHERE hostname = (SELECT hostname FROM hostnames WHERE id = ?)`,
    `UPDATE deltas SET "before" = '[]', "after" = '[]' WHERE host = ?`,
    'DELETE FROM standing WHERE host = ?',
    'DELETE FROM rotations WHERE host = ?',
    'DELETE FROM facets WHERE host = ?',
    'DELETE FROM values_to_index WHERE host = ?',
    'DELETE FROM sightings WHERE host = ?',
    'DELETE FROM archived_hosts WHERE host = ?',
    'DELETE FROM kept_receipts WHERE host = ?',
  ].map((statement) => run(statement));
  const told = all('SELECT rowid AS n, body FROM change_deliveries WHERE rowid > ? ORDER BY rowid LIMIT ?', {
    n: integer,
    body: text,
  });
  const untell = run('DELETE FROM change_deliveries WHERE rowid = ?');
  const answers = all('SELECT key, name, body FROM service_answers', { key: text, name: text, body: text });
  const unanswer = run('DELETE FROM service_answers WHERE key = ? AND name = ?');
  return {
    /**
     * Deletes queued and sent messages to accounts, and stored responses to writes, that mention any of these
     * hostnames.
     */
    eraseMessages(hostnames: ReadonlySet<string>): void {
      for (const { key, name, body } of answers()) if (mentions(body, hostnames)) unanswer(key, name);
      for (let page = told(0, BATCH); page.length > 0; page = told(page.at(-1)?.n ?? 0, BATCH)) {
        for (const { n, body } of page) if (mentions(body, hostnames)) untell(n);
      }
    },
    /** Erases a host's observed data. `notes` are the hashes of its observations' notes in the database, by number. */
    eraseHost(host: number, notes: readonly { seq: number; hash: Uint8Array }[]): void {
      archive.throughGate(0, host, () => {
        for (const { seq, hash } of notes) archive.bury(seq, hash, null);
        const seen = JSON.stringify(values(host));
        for (const statement of forget) statement(host);
        forgetWords();
        for (const { id, value } of searched(host, seen)) {
          unsearch(id);
          unword(id, valueWords(value));
        }
      });
    },
    /**
     * A host with erased observations that has observations again, after a restore or a kill; null when there is none.
     */
    erasedBefore: one(
      `SELECT id, hostname, registrable_domain FROM hostnames WHERE id IN (
         SELECT host FROM erased_observations CROSS JOIN observations ON observations.seq = erased_observations.seq
         UNION ALL
         SELECT host FROM archived_hosts WHERE first_seq IN (SELECT seq FROM erased_observations)
         UNION ALL
         SELECT id FROM archive_erasures CROSS JOIN hostnames ON hostnames.path = archive_erasures.path WHERE hostnames.seq IS NOT NULL)
       LIMIT 1`,
      { id: integer, hostname: text, registrable_domain: orNull(text) },
    ),
    /** A name and the names below it, as far as they were ever watched. */
    hostsBelow: all(
      `SELECT id, hostname, path, registrable_domain FROM hostnames
       WHERE path = ?1 OR (path > ?1 || '.' AND path < ?1 || '/') ORDER BY path`,
      { id: integer, hostname: text, path: text, registrable_domain: orNull(text) },
    ),
  };
}

import { Fault } from '../fault.ts';
import type { Hostname } from '../records/hostname.ts';
import { nameAndParents, registrableDomain } from '../records/hostname.ts';
import { operatorOf } from '../records/queue.ts';
import type { Db } from './open.ts';

export type HostState = 'watched' | 'paused' | 'opted_out';

/** A hostname under watch. Times in ms. */
export interface WatchedHost extends Hostname {
  id: number;
  state: HostState;
  added_at: number;
  due_at: number;
  looked_at: number | null;
  /** The newest observation. */
  seq: number | null;
  failures: number;
}

/** Why a name, with all below it, is neither looked at nor shown. */
export interface OptOut {
  hostname: string;
  reason: string;
  /** Ms. */
  at: number;
  made_by: string;
}

export type WatchOutcome = 'added' | 'already' | 'resumed' | 'opted_out';

const COLUMNS = 'id, hostname, unicode, registrable_domain, state, added_at, due_at, looked_at, seq, failures';

/** Hostnames: which are watched, and which must not be. */
export function hostnameTable(db: Db, transact: <T>(work: () => T) => T) {
  const add = db.prepare(
    `INSERT INTO hostnames (hostname, unicode, path, registrable_domain, state, added_at, due_at, operator)
     VALUES (?1, ?2, ?3, ?4, 'watched', ?5, ?5, ?6) ON CONFLICT DO NOTHING RETURNING id`,
  );
  const label = db.prepare('INSERT INTO hostname_labels (rowid, labels) VALUES (?, ?)');
  const resume = db.prepare("UPDATE hostnames SET state = 'watched' WHERE hostname = ? AND state = 'paused'");
  const pause = db.prepare(
    "UPDATE hostnames SET state = 'paused', lease = NULL, leased_by = NULL WHERE hostname = ? AND state = 'watched'",
  );
  const optedOut = db.prepare(
    'SELECT hostname, reason, at, made_by FROM opt_outs WHERE hostname IN (SELECT value FROM json_each(?)) LIMIT 1',
  );
  const enterOptOut = db.prepare('INSERT INTO opt_outs VALUES (?, ?, ?, ?)');
  // Below `com.example` is what stands between `com.example.` and `com.example/`, the next sign.
  const hide = db.prepare(
    `UPDATE hostnames SET state = 'opted_out', lease = NULL, leased_by = NULL
     WHERE (path = ?1 OR (path > ?1 || '.' AND path < ?1 || '/')) AND state <> 'opted_out' RETURNING id, hostname`,
  );
  const unfacet = db.prepare('DELETE FROM facets WHERE host = ?');
  const uncount = db.prepare(
    `UPDATE change_counts SET count = change_counts.count - own.count
     FROM (SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*) AS count
           FROM deltas WHERE host = ? GROUP BY 1, 2, 3) AS own
     WHERE change_counts.day = own.day AND change_counts.signal = own.signal AND change_counts.kind = own.kind`,
  );
  const find = db.prepare(`SELECT ${COLUMNS} FROM hostnames WHERE hostname = ?`);
  const list = db.prepare(
    `SELECT ${COLUMNS} FROM hostnames WHERE state <> 'opted_out' AND hostname > ? ORDER BY hostname LIMIT ?`,
  );
  const search = db.prepare(
    `SELECT ${COLUMNS} FROM hostname_labels CROSS JOIN hostnames ON hostnames.id = hostname_labels.rowid
     WHERE hostname_labels MATCH ? AND hostname_labels.rowid > ? AND state <> 'opted_out'
     ORDER BY hostname_labels.rowid LIMIT ?`,
  );
  const searchCount = db.prepare(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM hostname_labels CROSS JOIN hostnames ON hostnames.id = hostname_labels.rowid
       WHERE hostname_labels MATCH ? AND state <> 'opted_out' LIMIT ?)`,
  );
  const counts = db.prepare('SELECT state, count FROM hostname_counts');
  const lastLook = db.prepare(
    'SELECT looked_at AS at FROM hostnames WHERE looked_at IS NOT NULL ORDER BY looked_at DESC LIMIT 1',
  );
  const everyId = db.prepare('SELECT id, hostname FROM hostnames ORDER BY id');

  // Through `all`: a row of `get` has a member more, libsql's own.
  const optOutOf = (hostname: string): OptOut | null =>
    (optedOut.all(JSON.stringify(nameAndParents(hostname))) as OptOut[])[0] ?? null;

  return {
    /** Puts hostnames under watch, due at once. What was paused goes on; an opt-out stands. Outcomes in their order. */
    watch: (names: Hostname[], now: number): { hostname: string; outcome: WatchOutcome }[] =>
      transact(() =>
        names.map(({ hostname, unicode, registrable_domain }) => {
          if (optOutOf(hostname) !== null) return { hostname, outcome: 'opted_out' };
          const operator = operatorOf(hostname, [], registrableDomain);
          const added = add.get(hostname, unicode, pathOf(hostname), registrable_domain, now, operator) as
            | { id: number }
            | undefined;
          if (added === undefined)
            return { hostname, outcome: resume.run(hostname).changes === 1 ? 'resumed' : 'already' };
          label.run(added.id, unicode === hostname ? hostname : `${hostname} ${unicode}`);
          return { hostname, outcome: 'added' };
        }),
      ),
    /** Stops looking; what was seen stays shown. False when it was not watched. */
    pause: (hostname: string): boolean => pause.run(hostname).changes === 1,
    /**
     * Stops looking at a name and all below it, now and later, and hides them
     * everywhere; receipts stay. Gives the names that went out of sight, none when
     * it was done before. Throws `invalid_request` for a public suffix.
     */
    optOut: ({ hostname, registrable_domain }: Hostname, reason: string, made_by: string, now: number): string[] => {
      if (registrable_domain === null) {
        throw new Fault(
          'invalid_request',
          `${hostname} is a public suffix: names of many owners are below it; opt out the names themselves`,
          { field: 'domain' },
        );
      }
      return transact(() => {
        if (optOutOf(hostname) !== null) return [];
        enterOptOut.run(hostname, reason, now, made_by);
        const hidden = hide.all(pathOf(hostname)) as { id: number; hostname: string }[];
        for (const { id } of hidden) {
          unfacet.run(id);
          uncount.run(id);
        }
        return hidden.map((row) => row.hostname).sort();
      });
    },
    /** The opt-out that covers a name, whether or not the name was ever watched; null when none does. */
    optOutOf,
    /** Also one that is opted out: see its `state`. Null when it was never watched. */
    find: (hostname: string): WatchedHost | null => (find.all(hostname) as WatchedHost[])[0] ?? null,
    /** Shown hostnames after one, in their order; '' begins. */
    list: (after: string, limit: number): WatchedHost[] => list.all(after, limit) as WatchedHost[],
    /**
     * Shown hostnames that have a label beginning with each of the words, in the order in which they came under
     * watch, after the one with an id; none for no word.
     */
    search: (words: string, limit: number, after = 0): WatchedHost[] => {
      const query = queryOf(words);
      return query === null ? [] : (search.all(query, after, limit) as WatchedHost[]);
    },
    /** How many there are; counted no further than `most`. */
    searchCount: (words: string, most: number): number => {
      const query = queryOf(words);
      return query === null ? 0 : (searchCount.get(query, most) as { count: number }).count;
    },
    counts: (): Record<HostState, number> =>
      Object.fromEntries(
        (counts.all() as { state: HostState; count: number }[]).map(({ state, count }) => [state, count]),
      ) as Record<HostState, number>,
    /** When the newest look was begun, in ms; null before the first. */
    lastLookAt: (): number | null => (lastLook.get() as { at: number } | undefined)?.at ?? null,
    /** Every hostname that ever was watched, for an audit. */
    everyHost: (): Iterable<{ id: number; hostname: string }> =>
      everyId.iterate() as Iterable<{ id: number; hostname: string }>,
  };
}

/** Words as FTS5 asks for them: each the beginning of a label. Null when there is none. */
function queryOf(words: string): string | null {
  const terms = words.toLowerCase().match(/[\p{L}\p{M}\p{N}-]+/gu) ?? [];
  return terms.length === 0 ? null : terms.map((term) => `"${term}"*`).join(' ');
}

function pathOf(hostname: string): string {
  return hostname.split('.').reverse().join('.');
}

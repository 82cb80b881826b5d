import { type Hostname, nameAndParents, operatorOf, pathOf, registrableDomain } from '../../records/hostname.ts';
import { Fault } from '../../shared/fault.ts';
import {
  columnsOf,
  type Db,
  integer,
  oneOf,
  orNull,
  type Read,
  sql,
  type Transact,
  text,
} from '../../shared/sql/sql.ts';
import type { facetTables } from './records-facets.ts';

const state = oneOf('watched', 'paused', 'opted_out');

/** A hostname under watch. Times in ms. */
const HOST = {
  id: integer,
  hostname: text,
  unicode: text,
  registrable_domain: orNull(text),
  state,
  added_at: integer,
  due_at: integer,
  looked_at: orNull(integer),
  /** The number of the newest observation. */
  seq: orNull(integer),
  failures: integer,
};
const COLUMNS = columnsOf(HOST);
export type WatchedHost = Read<typeof HOST>;
type HostState = WatchedHost['state'];

const OPT_OUT = { hostname: text, reason: text, at: integer, made_by: text };
/** An opt-out: the name and all names below it are neither probed nor shown. `at` in ms. */
export type OptOut = Read<typeof OPT_OUT>;

export type WatchOutcome = 'added' | 'already' | 'resumed' | 'opted_out';

/** Watched hostnames, and opt-outs. */
export function hostnameTable(
  db: Db,
  transact: Transact,
  { setFacets }: Pick<ReturnType<typeof facetTables>, 'setFacets'>,
) {
  const { run, changed, one, has, number, all, each } = sql(db);
  const add = one(
    `INSERT INTO hostnames (hostname, unicode, path, registrable_domain, state, added_at, due_at, operator, kept)
     VALUES (?1, ?2, ?3, ?4, 'watched', ?5, ?5, ?6, ?7) ON CONFLICT DO NOTHING RETURNING id`,
    integer,
  );
  const label = run('INSERT INTO hostname_labels (rowid, labels) VALUES (?, ?)');
  const resume = changed("UPDATE hostnames SET state = 'watched' WHERE hostname = ? AND state = 'paused'");
  const resumeForGroup = run(
    "UPDATE hostnames SET state = 'watched' WHERE hostname = ? AND state = 'paused' AND kept = 0",
  );
  const pause = changed(
    `UPDATE hostnames SET state = 'paused', kept = 1, lease = NULL, leased_by = NULL
     WHERE hostname = ? AND (state = 'watched' OR (state = 'paused' AND kept = 0))`,
  );
  /** Sets the state that a hidden hostname will have once its owner shows it again. */
  const setHidden = changed(
    `UPDATE owner_hidden SET state = ?2 WHERE host = (
       SELECT id FROM hostnames WHERE hostname = ?1 AND (owner_hidden.state <> ?2 OR kept = 0))`,
  );
  const keep = run('UPDATE hostnames SET kept = 1 WHERE hostname = ? AND kept = 0');
  // An operator's opt-out covers all names below it; an owner's only those of the same registrable domain.
  const optedOut = all(
    `SELECT hostname, reason, at, made_by FROM opt_outs WHERE hostname IN (SELECT value FROM json_each(?1))
     UNION ALL
     SELECT name AS hostname, 'its owner opted it out' AS reason, at, 'account:' || account AS made_by
     FROM owner_opt_outs WHERE registrable = ?2 AND (path = ?3 OR (?3 > path || '.' AND ?3 < path || '/')) LIMIT ?4`,
    OPT_OUT,
  );
  const enterOptOut = run('INSERT INTO opt_outs VALUES (?, ?, ?, ?)');
  // Names below `com.example` sort between `com.example.` and `com.example/`, the next character.
  const hide = all(
    `UPDATE hostnames SET state = 'opted_out', lease = NULL, leased_by = NULL
     WHERE (path = ?1 OR (path > ?1 || '.' AND path < ?1 || '/')) AND state <> 'opted_out' RETURNING id, hostname`,
    { id: integer, hostname: text },
  );
  const hideOwned = run(
    `INSERT INTO owner_hidden SELECT id, state FROM hostnames
     WHERE (path = ?1 OR (path > ?1 || '.' AND path < ?1 || '/')) AND registrable_domain = ?2 AND state <> 'opted_out'
     ON CONFLICT DO NOTHING`,
  );
  const hiddenOwned = all(
    `SELECT id, hostname FROM owner_hidden JOIN hostnames ON hostnames.id = owner_hidden.host
     WHERE (path = ?1 OR (path > ?1 || '.' AND path < ?1 || '/')) AND registrable_domain = ?2`,
    { id: integer, hostname: text },
  );
  const hideHost = run("UPDATE hostnames SET state = 'opted_out', lease = NULL, leased_by = NULL WHERE id = ?");
  const showHost = run(
    'UPDATE hostnames SET state = (SELECT state FROM owner_hidden WHERE host = ?1), due_at = ?2 WHERE id = ?1',
  );
  const unhide = run('DELETE FROM owner_hidden WHERE host = ?');
  const recount = run(
    `INSERT INTO change_counts
     SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*) FROM deltas
     WHERE host = ? AND rotation IS NOT 'answer' GROUP BY 1, 2, 3
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const uncount = run(
    `UPDATE change_counts SET count = change_counts.count - own.count
     FROM (SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*) AS count
           FROM deltas WHERE host = ? AND rotation IS NOT 'answer' GROUP BY 1, 2, 3) AS own
     WHERE change_counts.day = own.day AND change_counts.signal = own.signal AND change_counts.kind = own.kind`,
  );
  const search = all(
    `SELECT ${COLUMNS} FROM hostname_labels CROSS JOIN hostnames ON hostnames.id = hostname_labels.rowid
     WHERE hostname_labels MATCH ? AND hostname_labels.rowid > ? AND state <> 'opted_out'
     ORDER BY hostname_labels.rowid LIMIT ?`,
    HOST,
  );
  const searchCount = number(
    `SELECT count(*) FROM (
       SELECT 1 FROM hostname_labels CROSS JOIN hostnames ON hostnames.id = hostname_labels.rowid
       WHERE hostname_labels MATCH ? AND state <> 'opted_out' LIMIT ?)`,
  );
  const counts = all('SELECT state, count FROM hostname_counts', { state, count: integer });
  const optOutsOf = (hostname: string, limit = 100): OptOut[] =>
    optedOut(JSON.stringify(nameAndParents(hostname)), registrableDomain(hostname), pathOf(hostname), limit);
  const optOutOf = (hostname: string): OptOut | null => optOutsOf(hostname, 1)[0] ?? null;

  /** Adds a hostname unless it exists. */
  const addNew = ({ hostname, unicode, registrable_domain }: Hostname, now: number, isKept: boolean): boolean => {
    const operator = operatorOf(hostname, []);
    const added = add(hostname, unicode, pathOf(hostname), registrable_domain, now, operator, isKept ? 1 : 0);
    if (added === null) return false;
    label(added, unicode === hostname ? hostname : `${hostname} ${unicode}`);
    return true;
  };

  return {
    /**
     * Puts hostnames under watch for an operator, due at once. Resumes paused ones, and those hidden by an owner once
     * they are shown again. Opted-out ones are left unchanged. Outcomes are in the order of the names.
     */
    watch: (names: Hostname[], now: number): { hostname: string; outcome: WatchOutcome }[] =>
      transact(() =>
        names.map((name) => {
          const { hostname } = name;
          if (optOutOf(hostname) !== null) {
            if (setHidden(hostname, 'watched')) keep(hostname);
            return { hostname, outcome: 'opted_out' };
          }
          if (addNew(name, now, true)) return { hostname, outcome: 'added' };
          keep(hostname);
          return { hostname, outcome: resume(hostname) ? 'resumed' : 'already' };
        }),
      ),
    /** Puts a hostname under watch for a group, unless an operator paused it or it opted out. */
    watchForGroup: (name: Hostname, now: number): void =>
      transact(() => {
        if (optOutOf(name.hostname) === null && !addNew(name, now, false)) resumeForGroup(name.hostname);
      }),
    /**
     * Stops probing for an operator; earlier observations stay visible. A hostname hidden by an owner will be paused
     * once it is shown again. False when an operator had paused it before.
     */
    pause: (hostname: string): boolean =>
      transact(() => {
        if (pause(hostname)) return true;
        const isChanged = setHidden(hostname, 'paused');
        if (isChanged) keep(hostname);
        return isChanged;
      }),
    /** Whether an operator paused a hostname. Hostnames are also paused when no account watches them any more. */
    isPausedByOperator: has("SELECT 1 FROM hostnames WHERE hostname = ? AND state = 'paused' AND kept = 1"),
    /**
     * Permanently stops probing a name and all names below it, and hides them everywhere; receipts stay. Returns the
     * newly hidden names. Throws `invalid_request` for a public suffix.
     */
    optOut(
      { hostname, registrable_domain }: Pick<Hostname, 'hostname' | 'registrable_domain'>,
      reason: string,
      made_by: string,
      now: number,
    ): string[] {
      if (registrable_domain === null) {
        throw new Fault(
          'invalid_request',
          `${hostname} is a public suffix: names of many owners are below it; opt out the names themselves`,
          { field: 'domain' },
        );
      }
      return transact(() => {
        // An owner's opt-out is not enough, because its owner may lift it; this one stays.
        if (optOutsOf(hostname).some((one) => !one.made_by.startsWith('account:'))) return [];
        enterOptOut(hostname, reason, now, made_by);
        const hidden = hide(pathOf(hostname));
        for (const { id } of hidden) {
          setFacets(id, [], now);
          uncount(id);
        }
        return hidden.map((row) => row.hostname).sort();
      });
    },
    /** The opt-out that covers a name, whether or not it was watched; null without one. */
    optOutOf,
    /** All opt-outs that cover a name, the operator's first. `made_by` is `account:…` for an owner's. */
    optOutsOf,
    /** Hides a name that an owner opted out at `now` (ms), and the names below it. Returns the newly hidden ones. */
    hideOwned({ path, registrable }: { path: string; registrable: string }, now: number): string[] {
      const before = new Set(hiddenOwned(path, registrable).map(({ id }) => id));
      hideOwned(path, registrable);
      const hidden = hiddenOwned(path, registrable).filter(({ id }) => !before.has(id));
      for (const { id } of hidden) {
        hideHost(id);
        setFacets(id, [], now);
        uncount(id);
      }
      return hidden.map(({ hostname }) => hostname).sort();
    },
    /**
     * Shows a name and those below it again, with their earlier state and due at `now` (ms), except those that another
     * opt-out covers. The caller sets their facets.
     */
    showOwned(
      { path, registrable }: { path: string; registrable: string },
      now: number,
    ): { id: number; hostname: string }[] {
      const shown = hiddenOwned(path, registrable).filter(({ hostname }) => optOutOf(hostname) === null);
      for (const { id } of shown) {
        showHost(id, now);
        unhide(id);
        recount(id);
      }
      return shown;
    },
    /** A number that increases when owners' notes, proofs or opt-outs change what is shown. */
    ownerVersion: number('SELECT n FROM owner_version'),
    /** Finds a hostname, including one that opted out (see `state`). Null when it was never watched. */
    find: one(`SELECT ${COLUMNS} FROM hostnames WHERE hostname = ?`, HOST),
    /**
     * A text that changes with every observation of a hostname, when it is paused or resumed, and with what owners do.
     * Null for a hostname that is not shown or not observed yet.
     */
    observedState: one(
      "SELECT seq || ' ' || state || ' ' || (SELECT n FROM owner_version) FROM hostnames WHERE hostname = ? AND seq IS NOT NULL AND state <> 'opted_out'",
      text,
    ),
    /** A page of shown hostnames by name, after the given one ('' for the first page). */
    list: all(
      `SELECT ${COLUMNS} FROM hostnames WHERE state <> 'opted_out' AND hostname > ? ORDER BY hostname LIMIT ?`,
      HOST,
    ),
    /**
     * A page of shown hostnames that have a label with that prefix for each word, in the order in which they were
     * added, after the one with id `after`. None without words.
     */
    search(words: string, limit: number, after = 0): WatchedHost[] {
      const query = queryOf(words);
      return query === null ? [] : search(query, after, limit);
    },
    /** The number of matches; counting stops at `most`. */
    searchCount(words: string, most: number): number {
      const query = queryOf(words);
      return query === null ? 0 : searchCount(query, most);
    },
    counts(): Record<HostState, number> {
      const found = { watched: 0, paused: 0, opted_out: 0 };
      for (const { state, count } of counts()) found[state] = count;
      return found;
    },
    /** When the newest probe began, in ms; null before the first. */
    lastProbeAt: one(
      'SELECT looked_at AS at FROM hostnames WHERE looked_at IS NOT NULL ORDER BY looked_at DESC LIMIT 1',
      integer,
    ),
    /** Every hostname that was ever watched, for an audit. */
    everyHost: each('SELECT id, hostname FROM hostnames ORDER BY id', { id: integer, hostname: text }),
  };
}

/** An FTS5 query in which each word is the prefix of a label; null without words. */
function queryOf(words: string): string | null {
  const terms = words.toLowerCase().match(/[\p{L}\p{M}\p{N}-]+/gu) ?? [];
  return terms.length === 0 ? null : terms.map((term) => `"${term}"*`).join(' ');
}

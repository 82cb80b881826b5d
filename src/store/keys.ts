import { type KeyTable, LEVELS } from '../desk/papers/keys.ts';
import { dayOf } from '../proof/time.ts';
import { SERVICE_LEVELS, type ServiceKeyTable } from '../records/accounts/service-key.ts';
import { Expiries } from '../shared/key-life.ts';
import { columnsOf, type Db, integer, oneOf, orNull, sql, type Transact, text } from '../shared/sql/sql.ts';

/** When and by whom a key was created, used and revoked, and when it expires. */
const LIFE = {
  made_at: integer,
  made_by: orNull(text),
  expires_at: orNull(integer),
  used_at: orNull(integer),
  revoked_at: orNull(integer),
  revoked_by: orNull(text),
};

const KEY = {
  id: text,
  paper: text,
  level: oneOf(...LEVELS),
  name: text,
  seat: orNull(text),
  persona: orNull(text),
  ...LIFE,
  paused_at: orNull(integer),
  paused_by: orNull(text),
};
const WORK = { filed: integer, refused: integer, last_at: orNull(integer) };
const SERVICE_KEY = { id: text, account: orNull(text), level: oneOf(...SERVICE_LEVELS), name: text, ...LIFE };

const DAYS = { days: integer, first_day: orNull(text), last_day: orNull(text) };

/** The days on which a key was used, for both tables of keys. `days` has a row for each day. */
function usesOf(db: Db, transact: Transact, keys: string, days: string) {
  const { run, all } = sql(db);
  const use = run(`UPDATE ${keys} SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)`);
  // The key may have been deleted with its account.
  const onDay = run(`INSERT INTO ${days} SELECT id, ?2 FROM ${keys} WHERE id = ?1 ON CONFLICT DO NOTHING`);
  const expiries = new Expiries();
  const of = (what: string) => `(SELECT ${what} FROM ${days} WHERE key = id)`;
  return {
    /** Selects `DAYS`. */
    inDays: `${of('count(*)')} AS days, ${of('min(day)')} AS first_day, ${of('max(day)')} AS last_day`,
    methods: {
      daysOf: all(`SELECT day FROM ${days} WHERE key = ? ORDER BY day`, text),
      hasExpired: (key: { id: string; expires_at: number | null }, now: number) => expiries.has(key, now),
      used: (uses: Iterable<[id: string, at: number]>): void =>
        transact(() => {
          for (const [id, at] of uses) {
            use(id, at);
            onDay(id, dayOf(at));
          }
        }),
    },
  };
}

const withHash = <Row extends { hash: string }>({ hash, ...key }: Row) => ({ key, hash });

/** `KEY` of `keys`. A client's key is also paused when the seat that authorized it is. */
const COLUMNS = columnsOf(KEY, 'keys').replaceAll(
  /keys\.("?paused_\w+"?)/g,
  `coalesce(keys.$1, (SELECT seat.$1 FROM oauth_grants g JOIN keys seat ON seat.id = g.seat WHERE g.key = keys.id)) AS $1`,
);

/** Access keys. The table stores a hash of each key, never the key. */
export function keyTables(db: Db, transact: Transact): KeyTable {
  const { changed, insert, one, has, all } = sql(db);
  const { inDays, methods } = usesOf(db, transact, 'keys', 'key_days');
  const add = insert('keys', { ...KEY, hash: text });
  return {
    ...methods,
    insert: (key, hash) => void add({ ...key, hash }),
    list: all(
      `SELECT ${COLUMNS}, ${inDays}, coalesce(w.filed, 0) AS filed, coalesce(w.refused, 0) AS refused, w.last_at
       FROM keys LEFT JOIN key_work w ON w.key = id WHERE paper = ? ORDER BY made_at, id`,
      { ...KEY, ...DAYS, ...WORK },
    ),
    byId: one(`SELECT ${COLUMNS} FROM keys WHERE id = ?`, KEY),
    byHash: one(`SELECT ${COLUMNS}, hash FROM keys WHERE hash = ?`, { ...KEY, hash: text }, withHash),
    seat: one(`SELECT ${COLUMNS} FROM keys WHERE paper = ? AND seat = ? AND revoked_at IS NULL`, KEY),
    everSeated: has('SELECT 1 FROM keys WHERE paper = ? AND seat IS NOT NULL LIMIT 1'),
    pause: changed(
      `UPDATE keys SET paused_at = ?3, paused_by = ?4
       WHERE id = ?2 AND paper = ?1 AND revoked_at IS NULL AND (paused_at IS NULL) = (?3 IS NOT NULL)`,
    ),
    byToken: one(
      `SELECT ${COLUMNS}, a.access_expires_at FROM oauth_grants a JOIN keys ON keys.id = a.key WHERE a.access = ?`,
      { ...KEY, access_expires_at: integer },
      ({ access_expires_at, ...key }) => ({ key, expires_at: access_expires_at }),
    ),
    // Revoking a seat also revokes the clients that it authorized.
    revoke: changed(
      `UPDATE keys SET revoked_at = ?3, revoked_by = ?4 WHERE paper = ?1 AND revoked_at IS NULL
         AND (id = ?2 OR id IN (SELECT key FROM oauth_grants WHERE seat = ?2))`,
    ),
  };
}

/** Keys of the domain records. The table stores a hash of each key, never the key. */
export function serviceKeyTable(db: Db, transact: Transact): ServiceKeyTable {
  const { changed, insert, one, all } = sql(db);
  const { inDays, methods } = usesOf(db, transact, 'service_keys', 'service_key_days');
  const COLUMNS = columnsOf(SERVICE_KEY);
  const add = insert('service_keys', { ...SERVICE_KEY, hash: text });
  const revoke = changed(
    `UPDATE service_keys SET revoked_at = ?2, revoked_by = ?3
     WHERE id = ?1 AND revoked_at IS NULL AND (?4 IS NULL OR account = ?4)`,
  );
  return {
    ...methods,
    insert: (key, hash) => void add({ ...key, hash }),
    list: all(`SELECT ${COLUMNS}, ${inDays} FROM service_keys WHERE account IS ? ORDER BY made_at, id`, {
      ...SERVICE_KEY,
      ...DAYS,
    }),
    byId: one(`SELECT ${COLUMNS} FROM service_keys WHERE id = ?`, SERVICE_KEY),
    byHash: one(`SELECT ${COLUMNS}, hash FROM service_keys WHERE hash = ?`, { ...SERVICE_KEY, hash: text }, withHash),
    revoke: (id, at, by, account) => revoke(id, at, by, account ?? null),
  };
}

import type { KeyTable } from '../desk/keys.ts';
import { LEVELS } from '../desk/keys.ts';
import { Expiries } from '../key-life.ts';
import { dayOf } from '../time.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

/** When and by whom a key was created, used and revoked, and when it expires. */
export const KEY_LIFE = {
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
  ...KEY_LIFE,
};
const COLUMNS = Object.keys(KEY).join(', ');

/** The columns that `daysIn` selects. */
export const KEY_DAYS = { days: integer, first_day: orNull(text), last_day: orNull(text) };

/** A subquery for the days on which a key was used, from the table of those days. */
export function daysIn(table: string): string {
  const of = (what: string) => `(SELECT ${what} FROM ${table} WHERE key = id)`;
  return `${of('count(*)')} AS days, ${of('min(day)')} AS first_day, ${of('max(day)')} AS last_day`;
}

/** Records a day of use, once per key and day. The key may have been deleted with its account. */
export function useOfDay(table: string, keys: string): string {
  return `INSERT INTO ${table} SELECT id, ?2 FROM ${keys} WHERE id = ?1 ON CONFLICT DO NOTHING`;
}

/** Access keys. The table stores a hash of each key, never the key. */
export function keyTables(db: Db, transact: Transact): KeyTable {
  const { run, one, all } = sql(db);
  const insert = run(
    `INSERT INTO keys (id, paper, level, name, seat, persona, hash, made_at, made_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const revoke = run(
    'UPDATE keys SET revoked_at = ?, revoked_by = ? WHERE id = ? AND paper = ? AND revoked_at IS NULL',
  );
  const use = run('UPDATE keys SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)');
  const onDay = run(useOfDay('key_days', 'keys'));
  const expiries = new Expiries();
  return {
    insert({ id, paper, level, name, seat, persona, made_at, made_by, expires_at }, hash) {
      insert(id, paper, level, name, seat, persona, hash, made_at, made_by, expires_at);
    },
    list: all(`SELECT ${COLUMNS}, ${daysIn('key_days')} FROM keys WHERE paper = ? ORDER BY made_at, id`, {
      ...KEY,
      ...KEY_DAYS,
    }),
    daysOf: all('SELECT day FROM key_days WHERE key = ? ORDER BY day', text),
    byId: one(`SELECT ${COLUMNS} FROM keys WHERE id = ?`, KEY),
    hasExpired: (key, now) => expiries.has(key, now),
    byHash: one(`SELECT ${COLUMNS}, hash FROM keys WHERE hash = ?`, { ...KEY, hash: text }, ({ hash, ...key }) => ({
      key,
      hash,
    })),
    seat: one(`SELECT ${COLUMNS} FROM keys WHERE paper = ? AND seat = ? AND revoked_at IS NULL`, KEY),
    revoke: (paper, id, at, by) => revoke(at, by, id, paper) === 1,
    used(uses) {
      transact(() => {
        for (const [id, at] of uses) {
          use(id, at);
          onDay(id, dayOf(at));
        }
      });
    },
  };
}

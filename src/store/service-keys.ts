import type { ServiceKeyTable } from '../accounts/service-key.ts';
import { SERVICE_LEVELS } from '../accounts/service-key.ts';
import { Expiries } from '../key-life.ts';
import { dayOf } from '../time.ts';
import { oneOf, orNull, text } from './columns.ts';
import { daysIn, KEY_DAYS, KEY_LIFE, useOfDay } from './keys.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

const KEY = { id: text, account: orNull(text), level: oneOf(...SERVICE_LEVELS), name: text, ...KEY_LIFE };
const COLUMNS = Object.keys(KEY).join(', ');

/** Keys of the domain records. The table stores a hash of each key, never the key. */
export function serviceKeyTable(db: Db, transact: Transact): ServiceKeyTable {
  const { run, one, all } = sql(db);
  const insert = run(
    `INSERT INTO service_keys (id, account, level, name, hash, made_at, made_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const onDay = run(useOfDay('service_key_days', 'service_keys'));
  const revoke = run(
    `UPDATE service_keys SET revoked_at = ?2, revoked_by = ?4
     WHERE id = ?1 AND revoked_at IS NULL AND (?3 IS NULL OR account = ?3)`,
  );
  const use = run('UPDATE service_keys SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)');
  const expiries = new Expiries();
  return {
    insert({ id, account, level, name, made_at, made_by, expires_at }, hash) {
      insert(id, account, level, name, hash, made_at, made_by, expires_at);
    },
    byHash: one(
      `SELECT ${COLUMNS}, hash FROM service_keys WHERE hash = ?`,
      { ...KEY, hash: text },
      ({ hash, ...key }) => ({ key, hash }),
    ),
    list: all(
      `SELECT ${COLUMNS}, ${daysIn('service_key_days')} FROM service_keys WHERE account IS ? ORDER BY made_at, id`,
      { ...KEY, ...KEY_DAYS },
    ),
    byId: one(`SELECT ${COLUMNS} FROM service_keys WHERE id = ?`, KEY),
    daysOf: all('SELECT day FROM service_key_days WHERE key = ? ORDER BY day', text),
    hasExpired: (key, now) => expiries.has(key, now),
    revoke: (id, at, by, account) => revoke(id, at, account ?? null, by) === 1,
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

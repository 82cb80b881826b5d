import type { ServiceKey, ServiceKeyTable } from '../accounts/service-key.ts';
import type { KeyDays } from '../key-life.ts';
import { Expiries } from '../key-life.ts';
import { dayOf } from '../time.ts';
import { daysIn, useOfDay } from './keys.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, account, level, name, made_at, made_by, expires_at, used_at, revoked_at, revoked_by';

/** Keys of the domain records: the table holds their hashes, never the keys. */
export function serviceKeyTable(db: Db, transact: (work: () => void) => void): ServiceKeyTable {
  const insert = db.prepare(
    `INSERT INTO service_keys (id, account, level, name, hash, made_at, made_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const byHash = db.prepare(`SELECT ${COLUMNS}, hash FROM service_keys WHERE hash = ?`);
  const list = db.prepare(
    `SELECT ${COLUMNS}, ${daysIn('service_key_days')} FROM service_keys WHERE account IS ? ORDER BY made_at, id`,
  );
  const byId = db.prepare(`SELECT ${COLUMNS} FROM service_keys WHERE id = ?`);
  const days = db.prepare('SELECT day FROM service_key_days WHERE key = ? ORDER BY day');
  const onDay = db.prepare(useOfDay('service_key_days', 'service_keys'));
  const revoke = db.prepare(
    `UPDATE service_keys SET revoked_at = ?2, revoked_by = ?4
     WHERE id = ?1 AND revoked_at IS NULL AND (?3 IS NULL OR account = ?3)`,
  );
  const use = db.prepare('UPDATE service_keys SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)');
  const expiries = new Expiries();
  return {
    insert({ id, account, level, name, made_at, made_by, expires_at }, hash) {
      insert.run(id, account, level, name, hash, made_at, made_by, expires_at);
    },
    byHash(hash) {
      const [row] = byHash.all(hash) as (ServiceKey & { hash: string })[];
      if (row === undefined) return null;
      const { hash: kept, ...key } = row;
      return { key, hash: kept };
    },
    // A lone null would be taken for an object of named parameters.
    list: (account) => list.all([account]) as (ServiceKey & KeyDays)[],
    byId: (id) => (byId.all(id) as ServiceKey[])[0] ?? null,
    daysOf: (id) => (days.all(id) as { day: string }[]).map(({ day }) => day),
    hasExpired: (key, now) => expiries.has(key, now),
    revoke: (id, at, by, account) => revoke.run(id, at, account ?? null, by).changes === 1,
    used(uses) {
      transact(() => {
        for (const [id, at] of uses) {
          use.run(id, at);
          onDay.run(id, dayOf(at));
        }
      });
    },
  };
}

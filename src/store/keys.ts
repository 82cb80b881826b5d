import type { AccessKey, KeyTable } from '../desk/keys.ts';
import type { KeyDays } from '../key-life.ts';
import { Expiries } from '../key-life.ts';
import { dayOf } from '../time.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, paper, level, name, seat, persona, made_at, made_by, expires_at, used_at, revoked_at, revoked_by';

/** The days of a key's use that are told in lists, from the table of them. */
export function daysIn(table: string): string {
  const of = (what: string) => `(SELECT ${what} FROM ${table} WHERE key = id)`;
  return `${of('count(*)')} AS days, ${of('min(day)')} AS first_day, ${of('max(day)')} AS last_day`;
}

/** Notes a day of use: one write for each key and day. A key may have gone with its account. */
export function useOfDay(table: string, keys: string): string {
  return `INSERT INTO ${table} SELECT id, ?2 FROM ${keys} WHERE id = ?1 ON CONFLICT DO NOTHING`;
}

/** Access keys: the table holds their hashes, never the keys. */
export function keyTables(db: Db, transact: (work: () => void) => void): KeyTable {
  const insert = db.prepare(
    `INSERT INTO keys (id, paper, level, name, seat, persona, hash, made_at, made_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const list = db.prepare(`SELECT ${COLUMNS}, ${daysIn('key_days')} FROM keys WHERE paper = ? ORDER BY made_at, id`);
  const days = db.prepare('SELECT day FROM key_days WHERE key = ? ORDER BY day');
  const byId = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE id = ?`);
  const byHash = db.prepare(`SELECT ${COLUMNS}, hash FROM keys WHERE hash = ?`);
  const seated = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE paper = ? AND seat = ? AND revoked_at IS NULL`);
  const revoke = db.prepare(
    'UPDATE keys SET revoked_at = ?, revoked_by = ? WHERE id = ? AND paper = ? AND revoked_at IS NULL',
  );
  const use = db.prepare('UPDATE keys SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)');
  const onDay = db.prepare(useOfDay('key_days', 'keys'));
  const expiries = new Expiries();
  return {
    insert({ id, paper, level, name, seat, persona, made_at, made_by, expires_at }, hash) {
      insert.run(id, paper, level, name, seat, persona, hash, made_at, made_by, expires_at);
    },
    list: (paper) => list.all(paper) as (AccessKey & KeyDays)[],
    daysOf: (id) => (days.all(id) as { day: string }[]).map(({ day }) => day),
    byId: (id) => (byId.all(id) as AccessKey[])[0] ?? null,
    hasExpired: (key, now) => expiries.has(key, now),
    byHash(hash) {
      const row = byHash.get(hash) as (AccessKey & { hash: string; _metadata?: unknown }) | undefined;
      if (row === undefined) return null;
      const { hash: kept, _metadata, ...key } = row;
      return { key, hash: kept };
    },
    seat(paper, email) {
      const [key] = seated.all(paper, email) as AccessKey[];
      return key ?? null;
    },
    revoke: (paper, id, at, by) => revoke.run(at, by, id, paper).changes === 1,
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

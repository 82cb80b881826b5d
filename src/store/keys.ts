import type { AccessKey, KeyTable } from '../desk/keys.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, paper, level, name, seat, persona, made_at, used_at, revoked_at';

/** Access keys: the table holds their hashes, never the keys. */
export function keyTables(db: Db, transact: (work: () => void) => void): KeyTable {
  const insert = db.prepare(
    'INSERT INTO keys (id, paper, level, name, seat, persona, hash, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const list = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE paper = ? ORDER BY made_at, id`);
  const byHash = db.prepare(`SELECT ${COLUMNS}, hash FROM keys WHERE hash = ?`);
  const inForce = db.prepare('SELECT 1 FROM keys WHERE id = ? AND revoked_at IS NULL');
  const seated = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE paper = ? AND seat = ? AND revoked_at IS NULL`);
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND paper = ? AND revoked_at IS NULL');
  const use = db.prepare('UPDATE keys SET used_at = ?2 WHERE id = ?1 AND (used_at IS NULL OR used_at < ?2)');
  return {
    insert({ id, paper, level, name, seat, persona, made_at }, hash) {
      insert.run(id, paper, level, name, seat, persona, hash, made_at);
    },
    list: (paper) => list.all(paper) as AccessKey[],
    byHash(hash) {
      const row = byHash.get(hash) as (AccessKey & { hash: string; _metadata?: unknown }) | undefined;
      if (row === undefined) return null;
      const { hash: kept, _metadata, ...key } = row;
      return { key, hash: kept };
    },
    isInForce: (id) => inForce.get(id) !== undefined,
    seat(paper, email) {
      const [key] = seated.all(paper, email) as AccessKey[];
      return key ?? null;
    },
    revoke: (paper, id, at) => revoke.run(at, id, paper).changes === 1,
    used(uses) {
      transact(() => {
        for (const [id, at] of uses) use.run(id, at);
      });
    },
  };
}

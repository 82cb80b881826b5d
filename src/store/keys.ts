import type { AccessKey, KeyTable } from '../desk/keys.ts';
import type { Db } from './open.ts';

/** Access keys: the table holds their hashes, never the keys. */
export function keyTables(db: Db): KeyTable {
  const insert = db.prepare('INSERT INTO keys (id, paper, level, name, hash, made_at) VALUES (?, ?, ?, ?, ?, ?)');
  const list = db.prepare(
    'SELECT id, paper, level, name, made_at, revoked_at FROM keys WHERE paper = ? ORDER BY made_at, id',
  );
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND paper = ? AND revoked_at IS NULL');
  return {
    insert({ id, paper, level, name, made_at }, hash) {
      insert.run(id, paper, level, name, hash, made_at);
    },
    list: (paper) => list.all(paper) as AccessKey[],
    revoke: (paper, id, at) => revoke.run(at, id, paper).changes === 1,
  };
}

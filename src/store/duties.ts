import type { DutyTable } from '../readers/duty.ts';
import type { Db } from './open.ts';

/** Who does what only one process may do at a time. */
export function dutyTable(db: Db): DutyTable {
  const keep = db.prepare('UPDATE duties SET until = ?3 WHERE name = ?1 AND owner = ?2');
  const take = db.prepare(
    `INSERT INTO duties (name, owner, until) VALUES (?1, ?2, ?4)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE until <= ?3`,
  );
  const leave = db.prepare('DELETE FROM duties WHERE name = ? AND owner = ?');
  const held = db.prepare('SELECT 1 FROM duties WHERE until > ? LIMIT 1');
  return {
    isAnyHeld: (now) => held.all(now).length > 0,
    take(name, owner, now, until) {
      if (keep.run(name, owner, until).changes === 1) return 'kept';
      return take.run(name, owner, now, until).changes === 1 ? 'taken' : null;
    },
    leave(name, owner) {
      leave.run(name, owner);
    },
  };
}

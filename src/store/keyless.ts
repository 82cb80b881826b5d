import { dayOf, nextDayAt } from '../meter/day.ts';
import type { KeylessPass, KeylessTable } from '../meter/keyless.ts';
import { KEYLESS_SPAN } from '../meter/keyless.ts';
import type { Db } from './open.ts';

type Transact = <T>(work: () => T) => T;

/** Who came in without a key. */
export function keylessTable(db: Db, transact: Transact): KeylessTable {
  const used = db.prepare('SELECT used FROM keyless_days WHERE day = ?');
  const seen = db.prepare('SELECT at FROM keyless_callers WHERE caller = ?');
  const note = db.prepare(
    'INSERT INTO keyless_callers (caller, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
  );
  // Those of a clock that was set back go too.
  const forget = db.prepare('DELETE FROM keyless_callers WHERE at <= ? OR at > ?');
  const count = db.prepare(
    'INSERT INTO keyless_days (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1',
  );

  const look = (caller: string, at: number, ceiling: number): KeylessPass => {
    const [day] = used.all(dayOf(at)) as { used: number }[];
    if ((day?.used ?? 0) >= ceiling) return { pass: 'closed', until: nextDayAt(at) };
    const [last] = seen.all(caller) as { at: number }[];
    // A time to come is that of a clock that was set back.
    if (last !== undefined && last.at <= at && at - last.at < KEYLESS_SPAN) {
      return { pass: 'throttled', until: last.at + KEYLESS_SPAN };
    }
    return { pass: 'open', until: at + KEYLESS_SPAN };
  };

  return {
    enter(caller, at, ceiling) {
      // Whoever is refused takes no lock.
      const first = look(caller, at, ceiling);
      if (first.pass !== 'open') return first;
      return transact(() => {
        const pass = look(caller, at, ceiling);
        if (pass.pass !== 'open') return pass;
        forget.run(at - KEYLESS_SPAN, at);
        note.run(caller, at);
        count.run(dayOf(at));
        return pass;
      });
    },
  };
}

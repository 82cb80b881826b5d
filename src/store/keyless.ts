import { accountingTime } from '../meter/accounting-time.ts';
import type { KeylessPass, KeylessTable } from '../meter/keyless.ts';
import { KEYLESS_SPAN } from '../meter/keyless.ts';
import { dayOf, nextDayAt } from '../time.ts';
import type { Db } from './open.ts';

type Transact = <T>(work: () => T) => T;

/** Who came in without a key. */
export function keylessTable(db: Db, transact: Transact): KeylessTable {
  const latest = db.prepare('SELECT day, used FROM keyless_days ORDER BY day DESC LIMIT 1');
  const seen = db.prepare('SELECT at FROM keyless_callers WHERE caller = ?');
  const note = db.prepare(
    'INSERT INTO keyless_callers (caller, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
  );
  // Those of a clock that was set back go too.
  const forget = db.prepare('DELETE FROM keyless_callers WHERE at <= ? OR at >= ?');
  const count = db.prepare(
    'INSERT INTO keyless_days (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1',
  );

  /** The time that a request counts at, and how many were let in on that day. */
  const accountedAt = (now: number): { at: number; used: number } => {
    const [last] = latest.all() as { day: string; used: number }[];
    const at = accountingTime(now, last?.day ?? null);
    return { at, used: last?.day === dayOf(at) ? last.used : 0 };
  };

  const look = (caller: string, at: number, ceiling: number): KeylessPass => {
    const day = accountedAt(at);
    if (day.used >= ceiling) return { pass: 'closed', until: nextDayAt(day.at) };
    const [last] = seen.all(caller) as { at: number }[];
    // A neighbour's clock may be ahead by a little; what lies a whole span ahead is of a clock that was set back.
    if (last !== undefined && Math.abs(at - last.at) < KEYLESS_SPAN) {
      return { pass: 'throttled', until: last.at + KEYLESS_SPAN };
    }
    return { pass: 'open', until: at + KEYLESS_SPAN };
  };

  return {
    look,
    enter: (caller, now, ceiling) =>
      transact(() => {
        // Read under the lock: no other process has noted a later time.
        const at = now();
        const pass = look(caller, at, ceiling);
        if (pass.pass !== 'open') return pass;
        forget.run(at - KEYLESS_SPAN, at + KEYLESS_SPAN);
        note.run(caller, at);
        count.run(dayOf(accountedAt(at).at));
        return pass;
      }),
  };
}

import { accountingTime } from '../meter/account-usage.ts';
import type { KeylessPass, KeylessTable } from '../meter/keyless.ts';
import { KEYLESS_INTERVAL } from '../meter/keyless.ts';
import { dayOf, nextDayAt } from '../time.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

/** Limits of callers without a key. */
export function keylessTable(db: Db, transact: Transact): KeylessTable {
  const { run, one } = sql(db);
  const latest = one('SELECT day, used FROM keyless_days ORDER BY day DESC LIMIT 1', { day: text, used: integer });
  const seenAt = one('SELECT at FROM keyless_callers WHERE caller = ?', integer);
  const note = run('INSERT INTO keyless_callers (caller, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at');
  // A timestamp in the future means the clock was set back, so the row is deleted too.
  const forget = run('DELETE FROM keyless_callers WHERE at <= ? OR at >= ?');
  const count = run('INSERT INTO keyless_days (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1');

  /** The time at which a request counts, and how many requests were admitted on that day. */
  const accountedAt = (now: number): { at: number; used: number } => {
    const last = latest();
    const at = accountingTime(now, last?.day ?? null);
    return { at, used: last?.day === dayOf(at) ? last.used : 0 };
  };

  const peek = (caller: string, at: number, ceiling: number): KeylessPass => {
    const day = accountedAt(at);
    if (day.used >= ceiling) return { pass: 'closed', until: nextDayAt(day.at) };
    const last = seenAt(caller);
    // Another process's clock may be slightly ahead. A difference of a whole interval means the clock was set back.
    if (last !== null && Math.abs(at - last) < KEYLESS_INTERVAL) {
      return { pass: 'throttled', until: last + KEYLESS_INTERVAL };
    }
    return { pass: 'open', until: at + KEYLESS_INTERVAL };
  };

  return {
    peek,
    admit: (caller, now, ceiling) =>
      transact(() => {
        // Read under the lock, so that no other process has recorded a later time.
        const at = now();
        const pass = peek(caller, at, ceiling);
        if (pass.pass !== 'open') return pass;
        forget(at - KEYLESS_INTERVAL, at + KEYLESS_INTERVAL);
        note(caller, at);
        count(dayOf(accountedAt(at).at));
        return pass;
      }),
  };
}

import { dayOf, MINUTE, monthOf } from '../../proof/time.ts';
import {
  type AccountUsage,
  accountingTime,
  afterRequest,
  type Exhausted,
  nextSource,
  PLANS,
} from '../../records/meter/account-usage.ts';
import { REQUEST_COST } from '../../records/meter/credits.ts';
import { minuteOf } from '../../records/meter/headers.ts';
import type { MeterTable } from '../../records/meter/meter-table.ts';
import { type Db, flag, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';
import { AFTER_ALL_DAYS, type CreditTables } from './credits.ts';

const COUNTS = { included: integer, drawn: integer, refused: integer, failed: integer };

const USAGE = {
  plan: oneOf(...PLANS),
  burst: integer,
  ...COUNTS,
  month_included: integer,
  month_drawn: integer,
  month_refused: integer,
  month_failed: integer,
  elsewhere: integer,
  covered: integer,
  is_covered: flag,
  /** The balance in the ledger; null before its first line. */
  ledger: orNull(integer),
  /** Drawn units not posted to the ledger yet. */
  open: integer,
  bought: orNull(text),
  bought_until: orNull(integer),
  bought_daily: orNull(integer),
  bought_minute: orNull(integer),
  bought_exports: orNull(integer),
};

const EXPORTS_SPENT: { exhausted: Exhausted } = { exhausted: { axis: 'exports', axes: ['exports'] } };

/** Whether a bought plan of the account `a` was in force on a day, given as text. */
const coveredOn = (
  day: string,
): string => `EXISTS (SELECT 1 FROM plan_orders o WHERE o.account = a.id AND o.seq IS NOT NULL
  AND o.starts_at < 1000 * (unixepoch(${day}) + 86400) AND o.ends_at > 1000 * unixepoch(${day}))`;

/** Sorts after every day of a month. */
const MONTH_END = '-99';

/** The meter of keyed requests. */
export function meterTable(db: Db, transact: Transact, credits: CreditTables): MeterTable {
  const { run, one, number, all } = sql(db);
  const selectUsage = one(
    `SELECT a.plan, coalesce(t.burst, 1) AS burst,
       coalesce(d.included, 0) AS included, coalesce(d.drawn, 0) AS drawn,
       coalesce(d.refused, 0) AS refused, coalesce(d.failed, 0) AS failed,
       m.included AS month_included, m.drawn AS month_drawn, m.refused AS month_refused, m.failed AS month_failed,
       iif(a.plan = 'daily' AND p.plan IS NULL, max(0, coalesce((SELECT included FROM mailbox_days WHERE mailbox = a.mailbox AND day = ?2), 0)
         - coalesce(d.included, 0)), 0) AS elsewhere,
       iif(a.plan = 'monthly', (SELECT coalesce(sum(included), 0) FROM meter_days c
         WHERE c.account = a.id AND c.day >= ?3 AND c.day <= ?4 AND c.day <> ?2 AND ${coveredOn('c.day')}), 0) AS covered,
       a.plan = 'monthly' AND ${coveredOn('?2')} AS is_covered,
       (SELECT balance FROM credit_ledger WHERE account = a.id ORDER BY seq DESC LIMIT 1) AS ledger,
       (SELECT coalesce(sum(drawn - folded), 0) FROM meter_days WHERE account = a.id AND drawn <> folded) AS open,
       p.plan AS bought, p.ends_at AS bought_until, p.daily AS bought_daily, p.per_minute AS bought_minute,
       p.exports AS bought_exports
     FROM accounts a
       LEFT JOIN plan_orders p ON p.account = a.id AND p.ends_at > ?5
         AND p.seq = (SELECT max(seq) FROM plan_orders WHERE account = a.id AND seq IS NOT NULL)
       LEFT JOIN meter_terms t ON t.account = a.id
       LEFT JOIN meter_days d ON d.account = a.id AND d.day = ?2
       CROSS JOIN (SELECT coalesce(sum(included), 0) AS included, coalesce(sum(drawn), 0) AS drawn,
         coalesce(sum(refused), 0) AS refused, coalesce(sum(failed), 0) AS failed
         FROM meter_days WHERE account = ?1 AND day >= ?3 AND day <= ?4) m
     WHERE a.id = ?1`,
    USAGE,
  );
  const minuteOfKey = one('SELECT minute, in_minute FROM meter_keys WHERE key = ? AND day = ?', {
    minute: integer,
    in_minute: integer,
  });
  const countKey = run(
    `INSERT INTO meter_keys (key, day, units, minute, in_minute) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET units = units + excluded.units, minute = excluded.minute, in_minute = excluded.in_minute`,
  );
  const uncountKey = run('UPDATE meter_keys SET units = units - 1 WHERE key = ? AND day = ? AND units > 0');
  const count = (column: 'included' | 'drawn' | 'refused') =>
    run(
      `INSERT INTO meter_days (account, day, ${column}) VALUES (?, ?, 1)
       ON CONFLICT DO UPDATE SET ${column} = ${column} + 1`,
    );
  const counts = { included: count('included'), drawn: count('drawn'), refused: count('refused') };
  const uncount = (column: 'included' | 'drawn') =>
    run(
      `UPDATE meter_days SET ${column} = ${column} - 1, failed = failed + 1 WHERE account = ? AND day = ? AND ${column} > 0`,
    );
  const uncounts = { included: uncount('included'), drawn: uncount('drawn') };
  const countMailbox = run(
    `INSERT INTO mailbox_days SELECT mailbox, ?2, 1 FROM accounts WHERE id = ?1
     ON CONFLICT DO UPDATE SET included = included + 1`,
  );
  const uncountMailbox = run(
    `UPDATE mailbox_days SET included = included - 1
     WHERE mailbox = (SELECT mailbox FROM accounts WHERE id = ?1) AND day = ?2 AND included > 0`,
  );
  const countExport = run('INSERT INTO export_days VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET used = used + 1');
  const uncountExport = run('UPDATE export_days SET used = used - 1 WHERE account = ? AND day = ? AND used > 0');
  const exportsOn = number('SELECT used FROM export_days WHERE account = ? AND day = ?');
  const forgetExports = run('DELETE FROM export_days WHERE account = ? AND day < ?');
  const lastDay = one('SELECT max(day) FROM meter_days WHERE account = ?', orNull(text));
  const keys = all(
    `SELECT u.key, sum(iif(u.day = ?2, u.units, 0)) AS today, sum(u.units) AS month
     FROM service_keys k JOIN meter_keys u ON u.key = k.id AND u.day >= ?3 AND u.day <= ?4
     WHERE k.account = ?1 GROUP BY u.key ORDER BY u.key`,
    { key: text, today: integer, month: integer },
  );
  const keyDays = all(
    `SELECT u.key, k.name, u.day, u.units FROM service_keys k CROSS JOIN meter_keys u ON u.key = k.id AND u.day >= ?2
     WHERE k.account = ?1 ORDER BY u.day, u.key`,
    { key: text, name: text, day: text, units: integer },
  );
  const firstUse = one(
    `SELECT k.name, u.minute FROM service_keys k CROSS JOIN meter_keys u ON u.key = k.id
     WHERE k.account = ?1 AND u.units >= ?2 ORDER BY u.day, u.minute LIMIT 1`,
    { name: text, minute: integer },
    ({ name, minute }) => ({ name, at: minute * MINUTE }),
  );
  const forgetDays = run('DELETE FROM meter_days WHERE account = ?');
  const forgetKeys = run('DELETE FROM meter_keys WHERE key IN (SELECT id FROM service_keys WHERE account = ?)');
  const forgetTerms = run('DELETE FROM meter_terms WHERE account = ?');

  const accountingTimeOf = (account: string, now: number): number => accountingTime(now, lastDay(account));

  /** The usage of an account and the limits of its plan in force, at a time. */
  const rowAt = (account: string, at: number) => {
    const month = monthOf(at);
    return selectUsage(account, dayOf(at), month, month + MONTH_END, at);
  };

  const usageOf = (row: NonNullable<ReturnType<typeof selectUsage>>, at: number, daily: number): AccountUsage => {
    const { plan, burst, included, drawn, refused, failed, bought, bought_until } = row;
    return {
      at,
      terms: {
        plan: bought === null ? plan : 'daily',
        burst,
        daily: Math.max(daily, row.bought_daily ?? 0),
        bought: bought === null ? null : { name: bought, ends_at: bought_until ?? 0 },
      },
      today: { included, drawn, refused, failed },
      month: {
        included: row.month_included,
        drawn: row.month_drawn,
        refused: row.month_refused,
        failed: row.month_failed,
      },
      covered: { before: row.covered, today: row.is_covered },
      elsewhere: row.elsewhere,
      balance: (row.ledger ?? 0) - row.open * REQUEST_COST,
      bought: row.ledger !== null,
    };
  };

  const usage = (account: string, now: number, daily: number) => {
    const at = accountingTimeOf(account, now);
    const row = rowAt(account, at);
    return row === null ? null : usageOf(row, at, daily);
  };

  /** The minute in which a key's request counts, and how many requests it has already. */
  const minuteAt = (key: string, day: string, now: number): { minute: number; used: number } => {
    const minute = minuteOf(now);
    const last = minuteOfKey(key, day);
    // A process whose clock lags slightly counts in the minute that has already begun. After the clock was set back,
    // counting restarts.
    if (last === null || ![0, 1].includes(last.minute - minute)) return { minute, used: 0 };
    return { minute: last.minute, used: last.in_minute };
  };

  const reserve: MeterTable['reserve'] = (
    { account, key, at: now, isExport = false },
    { daily, perMinute: freePerMinute, exports = Number.MAX_SAFE_INTEGER },
  ) =>
    transact(() => {
      const at = accountingTimeOf(account, now);
      const row = rowAt(account, at);
      if (row === null) return null;
      const before = usageOf(row, at, daily);
      const perMinute = Math.max(freePerMinute, row.bought_minute ?? 0);
      const day = dayOf(at);
      const { minute, used } = key === null ? { minute: 0, used: 0 } : minuteAt(key, day, now);
      if (key !== null && used >= perMinute) {
        return { outcome: 'too_fast', usage: before, rate: { limit: perMinute, used: perMinute, at: now } };
      }
      // It counts for the minute, but uses no unit.
      const rate = { limit: perMinute, used: used + 1, at: now };
      const isSpent = isExport && exportsOn(account, day) >= Math.max(exports, row.bought_exports ?? 0);
      const next = isSpent ? EXPORTS_SPENT : nextSource(before);
      const as = 'exhausted' in next ? 'refused' : next.from === 'included' ? 'included' : 'drawn';
      const usage = afterRequest(before, as);
      if (key !== null) countKey(key, day, as === 'refused' ? 0 : 1, minute, rate.used);
      counts[as](account, day);
      const isShared = as === 'included' && before.terms.plan === 'daily' && before.terms.bought === null;
      if (isShared) countMailbox(account, day);
      if (isExport && as !== 'refused') {
        forgetExports(account, day);
        countExport(account, day);
      }
      if (as === 'drawn') credits.postDraws(account, day, at);
      return 'exhausted' in next
        ? { outcome: 'exhausted', ...next.exhausted, usage, rate }
        : { outcome: 'reserved', reservation: { account, key, day, from: next.from, isShared, isExport }, usage, rate };
    });

  return {
    reserve,
    refund: ({ account, key, day, from, isShared, isExport }, at, daily) =>
      transact(() => {
        // If the account was deleted in the meantime, there is nothing to refund.
        if (uncounts[from === 'included' ? 'included' : 'drawn'](account, day) === 1) {
          if (key !== null) uncountKey(key, day);
          if (isShared) uncountMailbox(account, day);
          if (isExport) uncountExport(account, day);
          if (from === 'credits') credits.postDraws(account, dayOf(accountingTimeOf(account, at)), at);
        }
        return usage(account, at, daily);
      }),
    usage,
    exports: (account, at) => exportsOn(account, dayOf(accountingTimeOf(account, at))),
    days: all(
      'SELECT day, included, drawn, refused, failed FROM meter_days WHERE account = ? AND day >= ? ORDER BY day',
      { day: text, ...COUNTS },
    ),
    keys(account, now) {
      const at = accountingTimeOf(account, now);
      const month = monthOf(at);
      return keys(account, dayOf(at), month, month + MONTH_END);
    },
    keyDays,
    firstUse,
    setBurst: run(
      'INSERT INTO meter_terms (account, burst) VALUES (?, ?) ON CONFLICT DO UPDATE SET burst = excluded.burst',
    ),
    forget: (account, at) =>
      transact(() => {
        credits.postDraws(account, AFTER_ALL_DAYS, at);
        credits.eraseNotes(account);
        forgetDays(account);
        forgetKeys(account);
        forgetTerms(account);
      }),
  };
}

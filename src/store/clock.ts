import { FIRST_LIFETIME } from '../desk/console/link.ts';
import { READ_EVERY } from '../desk/evidence.ts';
import { ACCESS_LIFE, CODE_LIFE, REFRESH_LIFE } from '../desk/papers/oauth.ts';
import { DAY, dayOf } from '../proof/time.ts';
import { SIGN_IN_LIFETIME } from '../records/accounts/sign-in.ts';
import { SESSION_IDLE_MAX } from '../shared/session.ts';
import { type Db, integer, orNull, sql, text } from '../shared/sql/sql.ts';
import type { LedgerTables } from './desk/ledger-entries.ts';

/** Tables of work that waits for its time, the column of that time, and optionally the longest wait in ms. */
const WAITING = [
  ['mails', 'due_at'],
  ['digests', 'due_at'],
  ['deliveries', 'due_at'],
  ['notices', 'due_at'],
  ['account_mails', 'due_at'],
  ['change_deliveries', 'due_at'],
  ['hub_pings', 'due_at'],
  ['log_witnesses', 'next_at'],
  ['source_readings', 'due_at', READ_EVERY],
] as const;
/** The longest wait in the other tables, in ms: the rarest digest is weekly, and retries end within days. */
const LONGEST_WAIT = 10 * DAY;

/** Tables of credentials, the column of their end, and the longest lifetime without use, in ms. */
const ENDING = [
  ['console_sessions', 'expires_at', SESSION_IDLE_MAX],
  ['sessions', 'expires_at', SESSION_IDLE_MAX],
  ['console_links', 'expires_at', FIRST_LIFETIME],
  ['sign_ins', 'expires_at', SIGN_IN_LIFETIME],
  ['oauth_grants', 'expires_at', CODE_LIFE],
  ['oauth_grants', 'access_expires_at', ACCESS_LIFE],
  ['oauth_grants', 'refresh_expires_at', REFRESH_LIFE],
] as const;

/**
 * Tables of requests counted per day, in columns that can be added up. A later day closes all earlier ones
 * (`accountingTime`), so counts on a day far ahead would close the allowance until then. Draws already in the ledger of
 * credits are not moved.
 */
const COUNTED: { table: string; of: string; moved: Record<string, string> }[] = [
  {
    table: 'meter_days',
    of: 'account',
    moved: { included: 'included', drawn: 'drawn - folded', refused: 'refused', failed: 'failed' },
  },
  { table: 'meter_keys', of: 'key', moved: { units: 'units', minute: '0', in_minute: '0' } },
  { table: 'mailbox_days', of: 'mailbox', moved: { included: 'included' } },
  { table: 'keyless_days', of: '', moved: { used: 'used' } },
  { table: 'sign_ups', of: 'network', moved: { made: 'made' } },
];

/** Reads and repairs of stored times, for a clock that was wrong. */
export function clockTables(db: Db, { lastFiledAt, signingKeys }: LedgerTables) {
  const { run, one, number, all } = sql(db);
  const papers = all('SELECT slug, changed_at FROM papers', { slug: text, changed_at: integer });
  const others = number(
    `SELECT max(at) FROM (
       SELECT max(looked_at) AS at FROM hostnames WHERE looked_at IS NOT NULL
       UNION ALL SELECT at FROM (SELECT at FROM deltas ORDER BY seq DESC LIMIT 1)
       )`,
  );
  const firstAfter = one(
    `SELECT min(g.seq) FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? AND e.at > ? AND g.seq > ?`,
    orNull(integer),
  );
  const wakes = WAITING.map(([table, column, longest = LONGEST_WAIT]) =>
    run(`UPDATE ${table} SET ${column} = ?1 WHERE ${column} > ?1 + ${longest}`),
  );
  const ends = ENDING.map(([table, column, life]) =>
    run(`UPDATE ${table} SET ${column} = ?1 + ${life} WHERE ${column} > ?1 + ${life}`),
  );
  const moves = COUNTED.map(({ table, of, moved }) => {
    const whose = of === '' ? '' : `${of}, `;
    const columns = Object.keys(moved);
    const sums = Object.values(moved).map((value) => `sum(${value})`);
    const added = columns.map((column) => `${column} = ${column} + excluded.${column}`);
    return {
      add: run(
        `INSERT INTO ${table} (${whose}day, ${columns.join(', ')}) SELECT ${whose}?1, ${sums.join(', ')} FROM ${table}
         WHERE day > ?2 GROUP BY ${whose === '' ? '?1' : of} ON CONFLICT DO UPDATE SET ${added.join(', ')}`,
      ),
      drop: run(`DELETE FROM ${table} WHERE day > ?`),
    };
  });
  return {
    /**
     * The number of a paper's first receipt above `after` whose entry is later than `time` (ms); null if there is none.
     */
    firstFiledAfter: (paper: string, time: number, after: number): number | null => firstAfter(paper, time, after),
    /** Makes work due at `now` (ms) that a clock running ahead had scheduled for the far future. */
    wakeWaiting(now: number): void {
      for (const wake of wakes) wake(now);
    },
    /** Shortens credentials that end later than if they were last used at `now` (ms), because a clock ran ahead. */
    endInTime(now: number): void {
      for (const end of ends) end(now);
    },
    /** Moves counts on days after tomorrow, made by a clock that ran ahead, to the day of `now` (ms). */
    countToday(now: number): void {
      // A process whose clock is slightly ahead may count for tomorrow already.
      const tomorrow = dayOf(now + DAY);
      for (const { add, drop } of moves) {
        add(dayOf(now), tomorrow);
        drop(tomorrow);
      }
    },
    /**
     * The newest time stored here, in ms, in any ledger, key or observation; 0 before the first. Times that a
     * correction of the clock covers count as corrected.
     */
    newestTime: (): number =>
      Math.max(
        others(),
        ...signingKeys().map(({ nbf }) => nbf),
        ...papers().flatMap(({ slug, changed_at }) => [changed_at, lastFiledAt(slug)]),
      ),
    /** The number of corrections of the clock. */
    clockCorrections: number("SELECT count(*) FROM records WHERE kind = 'clock'"),
  };
}

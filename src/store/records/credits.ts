import { dayOf } from '../../proof/time.ts';
import {
  CREDIT_KINDS,
  type CreditEntry,
  type CreditKind,
  type CreditLedger,
  type CreditLine,
  REQUEST_COST,
} from '../../records/meter/credits.ts';
import { type Db, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const LINE = {
  seq: integer,
  at: integer,
  kind: oneOf(...CREDIT_KINDS),
  amount: integer,
  balance: integer,
  day: orNull(text),
  note: orNull(text),
};

export type CreditTables = ReturnType<typeof creditTables>;

/** Sorts after every day. */
export const AFTER_ALL_DAYS = '9999';

/**
 * The ledger of credits. A day's draws are counted in the meter's row. They become a line here when the day is over, or
 * before another line is appended.
 */
export function creditTables(db: Db, transact: Transact) {
  const { run, insert, one, has, all } = sql(db);
  const last = one('SELECT seq, at, balance FROM credit_ledger WHERE account = ? ORDER BY seq DESC LIMIT 1', {
    seq: integer,
    at: integer,
    balance: integer,
  });
  const add = insert('credit_ledger', { account: text, ref: text, ...LINE });
  const known = has('SELECT 1 FROM credit_ledger WHERE ref = ?');
  const open = all(
    'SELECT day, drawn, folded FROM meter_days WHERE account = ? AND drawn <> folded AND day < ? ORDER BY day',
    { day: text, drawn: integer, folded: integer },
  );
  const closeDay = run('UPDATE meter_days SET folded = drawn WHERE account = ? AND day = ?');
  const drawn = one(
    'SELECT coalesce(sum(drawn - folded), 0) AS units, max(day) AS day FROM meter_days WHERE account = ? AND drawn <> folded',
    { units: integer, day: orNull(text) },
  );
  const page = all(
    `SELECT seq, at, kind, amount, balance, day, note FROM credit_ledger
     WHERE account = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    LINE,
  );
  const unchained = all(
    `SELECT account, seq FROM (
       SELECT account, seq, amount, balance, lag(balance, 1, 0) OVER lines AS before, row_number() OVER lines AS n
       FROM credit_ledger WINDOW lines AS (PARTITION BY account ORDER BY seq))
     WHERE seq <> n OR balance <> before + amount ORDER BY account, seq`,
    { account: text, seq: integer },
    ({ account, seq }) => `credits of account ${account}: line ${seq} does not follow from the one before`,
  );
  const unequal = all(
    `SELECT account, day FROM meter_days d
     WHERE folded * ? <> -coalesce((SELECT sum(amount) FROM credit_ledger l WHERE l.account = d.account AND l.day = d.day), 0)
     ORDER BY account, day`,
    { account: text, day: text },
    ({ account, day }) => `credits of account ${account}: the lines of ${day} are not what the day drew`,
  );

  const tail = (account: string) => last(account) ?? { seq: 0, at: 0, balance: 0 };
  const openOf = (account: string): { amount: number; day: string | null } => {
    const { units, day } = drawn(account) ?? { units: 0, day: null };
    return { amount: -units * REQUEST_COST, day };
  };
  const balance = (account: string) => tail(account).balance + openOf(account).amount;

  const appendLine = (account: string, line: Omit<CreditEntry, 'seq' | 'balance'>, ref: string | null): CreditEntry => {
    const { seq, at: last, balance: before } = tail(account);
    // Times never decrease, even when the clock was set back.
    const entry = { ...line, at: Math.max(line.at, last), seq: seq + 1, balance: before + line.amount };
    add({ account, ref, ...entry });
    return entry;
  };

  const postDraws = (account: string, before: string, at: number): void => {
    for (const { day, drawn: units, folded } of open(account, before)) {
      const amount = (folded - units) * REQUEST_COST;
      const kind: CreditKind = amount < 0 ? 'draw' : 'refund';
      appendLine(account, { at, kind, amount, day, note: null }, null);
      closeDay(account, day);
    }
  };

  /** Draws not posted yet, as the line that they would form now. */
  const openLine = (account: string, at: number): CreditLine[] => {
    const { amount, day } = openOf(account);
    if (amount === 0) return [];
    const kind = amount < 0 ? 'draw' : 'refund';
    return [{ seq: null, at, kind, amount, balance: tail(account).balance + amount, day, note: null }];
  };

  const ledger: CreditLedger = {
    append: (account, { at, amount, note, ref }) =>
      transact(() => {
        if (ref !== undefined && known(ref)) return 'known';
        if (balance(account) + amount < 0) return 'too_little';
        postDraws(account, AFTER_ALL_DAYS, at);
        const kind = amount < 0 ? 'correction' : 'top_up';
        return appendLine(account, { at, kind, amount, day: null, note }, ref ?? null);
      }),
    entries: (account, at, { before = Number.MAX_SAFE_INTEGER, limit = 100 } = {}) =>
      transact(() => {
        postDraws(account, dayOf(at), at);
        const newest = before === Number.MAX_SAFE_INTEGER ? openLine(account, at) : [];
        return [...newest, ...page(account, before, limit)];
      }),
    balance,
    faults: () => [...unchained(), ...unequal(REQUEST_COST)],
  };
  return {
    ...ledger,
    /** Posts the draws of days before `before` to the ledger, and refunds made after posting as lines of their own. */
    postDraws,
    /** Erases all notes of an account. */
    eraseNotes: run('UPDATE credit_ledger SET note = NULL WHERE account = ? AND note IS NOT NULL'),
  };
}

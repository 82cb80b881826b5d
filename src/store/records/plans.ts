import type { Payment } from '../../records/meter/payment.ts';
import { planPeriod } from '../../records/meter/plan.ts';
import {
  type OpenOrder,
  type PaidPlan,
  PLAN_MAILS,
  type PlanOrder,
  type PlanTable,
} from '../../records/meter/plan-order.ts';
import { columnsOf, type Db, integer, json, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const LIMITS = { daily: integer, per_minute: integer, watch: integer, streams: integer, exports: integer };
const TERMS = { ...LIMITS, price: integer, days: integer };
const PLAN = { name: text, ...TERMS };
const ORDER = {
  id: text,
  account: text,
  payment: text,
  plan: text,
  ...TERMS,
  cost: text,
  network: text,
  asset: orNull(text),
  payer: text,
  ordered_at: integer,
};
const PAID = {
  ...ORDER,
  seq: integer,
  transaction: orNull(text),
  starts_at: integer,
  ends_at: integer,
  carried: integer,
};
const MAYBE_PAID = {
  ...PAID,
  seq: orNull(integer),
  starts_at: orNull(integer),
  ends_at: orNull(integer),
  carried: orNull(integer),
};
const { transaction: _, ...NAMED } = PAID;
/** The columns of a paid order `o`. */
const COLUMNS = `${columnsOf(NAMED, 'o')}, o.transaction_hash AS "transaction"`;
/** Whether `o` is the account's last bought plan. */
const IS_LAST = 'NOT EXISTS (SELECT 1 FROM plan_orders l WHERE l.account = o.account AND l.seq > o.seq)';

/** Plans on sale, and those that were bought. */
export function planTable(db: Db, transact: Transact): PlanTable {
  const { run, changed, insert, upsert, one, number, all } = sql(db);
  const list = all(`SELECT ${columnsOf(PLAN)} FROM plans ORDER BY price * 1.0 / days, name`, PLAN);
  const set = upsert('plans', ['name'], TERMS);
  const place = insert('plan_orders', { ...ORDER, authorization: text }, 'ON CONFLICT (account, payment) DO NOTHING');
  const ordered = one(`SELECT ${COLUMNS} FROM plan_orders o WHERE account = ? AND payment = ?`, MAYBE_PAID);
  const open = all(
    `SELECT ${columnsOf(ORDER)}, authorization FROM plan_orders WHERE seq IS NULL AND id > ? ORDER BY id LIMIT ?`,
    { ...ORDER, authorization: json<Payment>() },
    ({ authorization, ...order }): OpenOrder => ({ order, payment: authorization }),
  );
  const byId = one(`SELECT ${COLUMNS} FROM plan_orders o WHERE id = ?`, MAYBE_PAID);
  const last = one(
    `SELECT ${COLUMNS} FROM plan_orders o WHERE account = ? AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1`,
    PAID,
  );
  const pay = run(
    `UPDATE plan_orders SET seq = ?2, transaction_hash = ?3, starts_at = ?4, ends_at = ?5, carried = ?6, authorization = NULL
     WHERE id = ?1 AND seq IS NULL`,
  );
  const paidOrders = all(`SELECT ${COLUMNS} FROM plan_orders o WHERE seq IS NOT NULL ORDER BY account, seq`, PAID);
  const noteMail = changed('INSERT INTO plan_mails (plan_order, kind, mail) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const aboutMail = one('SELECT plan_order, kind FROM plan_mails WHERE mail = ?', {
    plan_order: text,
    kind: oneOf(...PLAN_MAILS),
  });

  const requirePaid = (id: string): PaidPlan => {
    const found = byId(id);
    const paid = found === null ? null : paidOf(found);
    if (paid === null) throw new Error(`order ${id} of a plan is not paid`);
    return paid;
  };
  return {
    list,
    find: one(`SELECT ${columnsOf(PLAN)} FROM plans WHERE name = ?`, PLAN),
    set: (plan) => void set(plan),
    remove: changed('DELETE FROM plans WHERE name = ?'),
    holders: number(`SELECT count(*) FROM plan_orders o WHERE plan = ?1 AND ends_at > ?2 AND ${IS_LAST}`),
    place: (order, payment) => void place({ ...order, authorization: JSON.stringify(payment) }),
    ordered(account, payment) {
      const found = ordered(account, payment);
      return found === null ? null : { order: orderOf(found), paid: paidOf(found) };
    },
    open,
    drop: run('DELETE FROM plan_orders WHERE id = ? AND seq IS NULL'),
    grant: (id, at, transaction) =>
      transact(() => {
        const found = byId(id);
        if (found === null) throw new Error(`there is no order ${id} of a plan`);
        const paid = paidOf(found);
        if (paid !== null) return paid;
        const before = last(found.account);
        const { starts_at, ends_at, carried } = planPeriod(found, before, at);
        pay(id, (before?.seq ?? 0) + 1, transaction, starts_at, ends_at, carried);
        return requirePaid(id);
      }),
    last,
    receipts: all(`SELECT ${COLUMNS} FROM plan_orders o WHERE account = ? AND seq IS NOT NULL ORDER BY seq DESC`, PAID),
    receipt: one(`SELECT ${COLUMNS} FROM plan_orders o WHERE account = ? AND id = ? AND seq IS NOT NULL`, PAID),
    ending: all(
      `SELECT ${COLUMNS} FROM plan_orders o WHERE ends_at > ?2 AND ends_at <= ?3 AND ${IS_LAST}
         AND NOT EXISTS (SELECT 1 FROM plan_mails m WHERE m.plan_order = o.id AND m.kind = ?1)
       ORDER BY ends_at LIMIT 100`,
      PAID,
    ),
    noteMail,
    ofMail(mail) {
      const about = aboutMail(mail);
      return about === null ? null : { kind: about.kind, paid: requirePaid(about.plan_order) };
    },
    ended: all(
      `SELECT account FROM plan_orders o WHERE ends_at <= ?1 AND ${IS_LAST} AND ?2 < (
         SELECT count(DISTINCT hostname) FROM watch_groups g JOIN watch_group_hosts h ON h.watch_group = g.id
         WHERE g.account = o.account)`,
      text,
    ),
    faults: () => {
      let before: PaidPlan | null = null;
      const faults: string[] = [];
      for (const paid of paidOrders()) {
        const previous: PaidPlan | null = before?.account === paid.account ? before : null;
        const { starts_at, ends_at, carried } = planPeriod(paid, previous, paid.starts_at);
        const follows = paid.seq === (previous?.seq ?? 0) + 1 && paid.starts_at === starts_at;
        if (!follows || paid.ends_at !== ends_at || paid.carried !== carried) {
          faults.push(`plans of account ${paid.account}: receipt ${paid.id} does not follow from the one before`);
        }
        before = paid;
      }
      return faults;
    },
  };
}

type MaybePaid = PlanOrder & { [K in keyof Omit<PaidPlan, keyof PlanOrder>]: PaidPlan[K] | null };

function orderOf({ seq, transaction, starts_at, ends_at, carried, ...order }: MaybePaid): PlanOrder {
  return order;
}

function paidOf(row: MaybePaid): PaidPlan | null {
  return row.seq === null ? null : (row as PaidPlan);
}

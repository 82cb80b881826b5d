import type { PaymentId, PaymentTable, Purchase } from '../../records/meter/purchase.ts';
import { bytes, type Db, integer, json, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';

/** The condition for a payment's key: the first four parameters. */
const KEY = 'network = ?1 AND asset = ?2 AND payer = ?3 AND nonce = ?4';

const PURCHASE = {
  request: text,
  hash: orNull(text),
  state: oneOf('claimed', 'settling', 'settled'),
  holder: text,
  held_until: integer,
  claimed_at: integer,
  settled_at: orNull(integer),
  transaction: orNull(text),
  status: orNull(integer),
  headers: orNull(json<[string, string][]>()),
  body: orNull(bytes),
};

/** Payments for single requests, with the answers that they paid for. */
export function paymentTable(db: Db): PaymentTable {
  const { run, changed, one } = sql(db);
  const find = one(
    `SELECT request, payment_hash AS hash, state, holder, held_until, claimed_at, settled_at,
       transaction_hash AS "transaction", status, headers, body
     FROM payments WHERE ${KEY}`,
    PURCHASE,
    ({ status, headers, body, ...rest }): Purchase => ({
      ...rest,
      bought: status === null ? null : { status, headers: headers ?? [], body },
    }),
  );
  const claim = changed(
    `INSERT INTO payments (network, asset, payer, nonce, request, holder, held_until, resource, units, claimed_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'claimed') ON CONFLICT DO NOTHING`,
  );
  const takeOver = changed(
    `UPDATE payments SET request = ?5, holder = ?6, held_until = ?7
     WHERE ${KEY} AND state = ?8 AND holder = ?9 AND held_until = ?10`,
  );
  const extend = run(
    `UPDATE payments SET held_until = ?6 WHERE ${KEY} AND holder = ?5 AND held_until < ?6 AND state <> 'settled'`,
  );
  const settling = changed(
    `UPDATE payments SET state = 'settling', status = ?6, headers = ?7, body = ?8, payment_hash = ?9
     WHERE ${KEY} AND holder = ?5 AND state <> 'settled'`,
  );
  const settled = run(
    `UPDATE payments SET state = 'settled', settled_at = ?5, transaction_hash = ?6, held_until = 0
     WHERE ${KEY} AND state <> 'settled'`,
  );
  const repeat = changed(
    `UPDATE payments SET repeats = repeats + 1 WHERE ${KEY} AND state = 'settled' AND repeats < ?5`,
  );
  const leave = run(`UPDATE payments SET held_until = 0 WHERE ${KEY} AND holder = ?5 AND state <> 'settled'`);
  const drop = run(`DELETE FROM payments WHERE ${KEY} AND holder = ?5 AND state <> 'settled'`);
  const keyOf = ({ network, asset, payer, nonce }: PaymentId) => [network, asset, payer, nonce] as const;
  return {
    find: (id) => find(...keyOf(id)),
    claim: (id, { request, holder, until }, { resource, units, at }) =>
      claim(...keyOf(id), request, holder, until, resource, units, at),
    takeOver: (id, from, { request, holder, until }) =>
      takeOver(...keyOf(id), request, holder, until, from.state, from.holder, from.held_until),
    extend: (id, holder, until) => void extend(...keyOf(id), holder, until),
    settling: (id, holder, { status, headers, body }, hash) =>
      settling(...keyOf(id), holder, status, JSON.stringify(headers), body, hash),
    settled: (id, at, transaction) => void settled(...keyOf(id), at, transaction),
    repeat: (id, most) => repeat(...keyOf(id), most),
    leave: (id, holder) => void leave(...keyOf(id), holder),
    drop: (id, holder) => void drop(...keyOf(id), holder),
    forgetAnswers: run(
      'UPDATE payments SET status = NULL, headers = NULL, body = NULL WHERE body IS NOT NULL AND claimed_at < ?',
    ),
  };
}

import type { PaymentId, PaymentTable, Purchase } from '../meter/purchase.ts';
import { bytes, type Db, integer, json, oneOf, orNull, type Read, sql, text } from './sql.ts';

const KEY = 'network = ? AND asset = ? AND payer = ? AND nonce = ?';

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
  const { run, one } = sql(db);
  const find = one(
    `SELECT request, payment_hash AS hash, state, holder, held_until, claimed_at, settled_at,
       transaction_hash AS "transaction", status, headers, body
     FROM payments WHERE ${KEY}`,
    PURCHASE,
    purchaseOf,
  );
  const claim = run(
    `INSERT INTO payments (network, asset, payer, nonce, request, holder, held_until, resource, units, claimed_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'claimed') ON CONFLICT DO NOTHING`,
  );
  const takeOver = run(
    `UPDATE payments SET request = ?, holder = ?, held_until = ?
     WHERE ${KEY} AND state = ? AND holder = ? AND held_until = ?`,
  );
  const extend = run(
    `UPDATE payments SET held_until = ? WHERE ${KEY} AND holder = ? AND held_until < ? AND state <> 'settled'`,
  );
  const settling = run(
    `UPDATE payments SET state = 'settling', status = ?, headers = ?, body = ?, payment_hash = ?
     WHERE ${KEY} AND holder = ? AND state <> 'settled'`,
  );
  const settled = run(
    `UPDATE payments SET state = 'settled', settled_at = ?, transaction_hash = ?, held_until = 0
     WHERE ${KEY} AND state <> 'settled'`,
  );
  const repeat = run(`UPDATE payments SET repeats = repeats + 1 WHERE ${KEY} AND state = 'settled' AND repeats < ?`);
  const leave = run(`UPDATE payments SET held_until = 0 WHERE ${KEY} AND holder = ? AND state <> 'settled'`);
  const drop = run(`DELETE FROM payments WHERE ${KEY} AND holder = ? AND state <> 'settled'`);
  return {
    find: (id) => find(...keyOf(id)),
    claim: (id, { request, holder, until }, { resource, units, at }) =>
      claim(...keyOf(id), request, holder, until, resource, units, at) === 1,
    takeOver: (id, from, { request, holder, until }) =>
      takeOver(request, holder, until, ...keyOf(id), from.state, from.holder, from.held_until) === 1,
    extend(id, holder, until) {
      extend(until, ...keyOf(id), holder, until);
    },
    settling: (id, holder, { status, headers, body }, hash) =>
      settling(status, JSON.stringify(headers), body, hash, ...keyOf(id), holder) === 1,
    settled(id, at, transaction) {
      settled(at, transaction, ...keyOf(id));
    },
    repeat: (id, most) => repeat(...keyOf(id), most) === 1,
    leave(id, holder) {
      leave(...keyOf(id), holder);
    },
    drop(id, holder) {
      drop(...keyOf(id), holder);
    },
    forgetAnswers: run(
      'UPDATE payments SET status = NULL, headers = NULL, body = NULL WHERE body IS NOT NULL AND claimed_at < ?',
    ),
  };
}

function keyOf({ network, asset, payer, nonce }: PaymentId): [string, string, string, string] {
  return [network, asset, payer, nonce];
}

function purchaseOf({ status, headers, body, ...rest }: Read<typeof PURCHASE>): Purchase {
  return { ...rest, bought: status === null ? null : { status, headers: headers ?? [], body } };
}

import type { PaymentId, PaymentTable, Purchase } from '../meter/purchase.ts';
import type { Db } from './open.ts';

const KEY = 'network = ? AND asset = ? AND payer = ? AND nonce = ?';

interface Row extends Omit<Purchase, 'bought' | 'transaction' | 'hash'> {
  payment_hash: string | null;
  transaction_hash: string | null;
  status: number | null;
  headers: string | null;
  body: ArrayBuffer | null;
}

/** Payments by the call, with the answers they bought. */
export function paymentTable(db: Db): PaymentTable {
  const find = db.prepare(
    `SELECT request, payment_hash, state, holder, held_until, claimed_at, settled_at, transaction_hash, status, headers, body
     FROM payments WHERE ${KEY}`,
  );
  const claim = db.prepare(
    `INSERT INTO payments (network, asset, payer, nonce, request, holder, held_until, resource, units, claimed_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'claimed') ON CONFLICT DO NOTHING`,
  );
  const takeOver = db.prepare(
    `UPDATE payments SET request = ?, holder = ?, held_until = ?
     WHERE ${KEY} AND state = ? AND holder = ? AND held_until = ?`,
  );
  const extend = db.prepare(
    `UPDATE payments SET held_until = ? WHERE ${KEY} AND holder = ? AND held_until < ? AND state <> 'settled'`,
  );
  const settling = db.prepare(
    `UPDATE payments SET state = 'settling', status = ?, headers = ?, body = ?, payment_hash = ?
     WHERE ${KEY} AND holder = ? AND state <> 'settled'`,
  );
  const settled = db.prepare(
    `UPDATE payments SET state = 'settled', settled_at = ?, transaction_hash = ?, held_until = 0
     WHERE ${KEY} AND state <> 'settled'`,
  );
  const repeat = db.prepare(
    `UPDATE payments SET repeats = repeats + 1 WHERE ${KEY} AND state = 'settled' AND repeats < ?`,
  );
  const leave = db.prepare(`UPDATE payments SET held_until = 0 WHERE ${KEY} AND holder = ? AND state <> 'settled'`);
  const drop = db.prepare(`DELETE FROM payments WHERE ${KEY} AND holder = ? AND state <> 'settled'`);
  const forget = db.prepare(
    'UPDATE payments SET status = NULL, headers = NULL, body = NULL WHERE body IS NOT NULL AND claimed_at < ?',
  );
  return {
    find(id) {
      const [row] = find.all(...keyOf(id)) as Row[];
      return row === undefined ? null : purchaseOf(row);
    },
    claim: (id, { request, holder, until }, { resource, units, at }) =>
      claim.run(...keyOf(id), request, holder, until, resource, units, at).changes === 1,
    takeOver: (id, from, { request, holder, until }) =>
      takeOver.run(request, holder, until, ...keyOf(id), from.state, from.holder, from.held_until).changes === 1,
    extend(id, holder, until) {
      extend.run(until, ...keyOf(id), holder, until);
    },
    settling: (id, holder, { status, headers, body }, hash) =>
      settling.run(status, JSON.stringify(headers), body, hash, ...keyOf(id), holder).changes === 1,
    settled(id, at, transaction) {
      settled.run(at, transaction, ...keyOf(id));
    },
    repeat: (id, most) => repeat.run(...keyOf(id), most).changes === 1,
    leave(id, holder) {
      leave.run(...keyOf(id), holder);
    },
    drop(id, holder) {
      drop.run(...keyOf(id), holder);
    },
    forgetAnswers(before) {
      forget.run(before);
    },
  };
}

function keyOf({ network, asset, payer, nonce }: PaymentId): [string, string, string, string] {
  return [network, asset, payer, nonce];
}

function purchaseOf({ request, state, holder, held_until, claimed_at, settled_at, ...row }: Row): Purchase {
  const { status, headers, transaction_hash: transaction, payment_hash: hash } = row;
  // libsql gives a blob as a type that it does not take.
  const body = row.body === null ? null : new Uint8Array(row.body);
  const kept = JSON.parse(headers ?? '[]') as [string, string][];
  const bought = status === null ? null : { status, headers: kept, body };
  return { request, hash, state, holder, held_until, claimed_at, settled_at, transaction, bought };
}

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { Checkout } from '../../src/records/meter/checkout.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

test('money that moves while another process holds the write lock is recorded, and answered', async (t) => {
  const folder = tempFolder(t);
  const { store } = appContextIn(t, folder, { now: 1_000_000 });
  const unshare = store.database.lock.share({ held() {}, freed() {} });
  const other = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => other.close());
  let beat = () => {};
  const till = new Checkout({
    payments: store.records.payments,
    facilitator: {
      verify: async () => 'valid',
      async settle() {
        other.exec('BEGIN IMMEDIATE');
        // The timer that renews the hold: what it throws would end the process.
        assert.doesNotThrow(beat);
        setTimeout(() => other.exec('COMMIT'), 300);
        return { settled: '0x1' };
      },
    },
    chain: null,
    now: () => 1_000_000,
    newId: () => 'holder',
    wait: (ms) => wait(ms),
    groupCommit: store.database.groupCommit,
    repeat(work) {
      beat = work;
      return () => {};
    },
  });
  const payment = decodePayment(samplePayment(1), 1);
  const run = async () => ({ status: 200, headers: [], body: Buffer.from('the answer') });
  const order = { payment, offer: OFFER, request: 'path', run };
  try {
    for (const again of [false, true]) {
      const sold = await till.sell(order);
      assert.equal(sold.outcome === 'served' && sold.again, again, JSON.stringify(sold));
      assert.equal(sold.outcome === 'served' && String(Buffer.from(sold.bought.body ?? [])), 'the answer');
    }
  } finally {
    unshare();
  }
});

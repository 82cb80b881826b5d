import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { subscribe } from '../../src/desk/readers/subscribe.ts';
import { DEFAULT_CHOICES } from '../../src/desk/readers/subscriber.ts';
import { requestSignIn, signIn } from '../../src/records/accounts/sign-in.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { Checkout, REPEATS } from '../../src/records/meter/checkout.ts';
import { decodePayment, type Payment } from '../../src/records/meter/payment.ts';
import { type PaymentId, paymentId } from '../../src/records/meter/purchase.ts';
import { linkToken } from '../../src/shared/access-key.ts';
import { Fault } from '../../src/shared/fault.ts';
import type { Store } from '../../src/store/store.ts';
import { PAPER } from '../support/app-context.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

/** A Saturday, in the midst of a minute, in a month of 30 days. */
export const NOON = Date.UTC(2026, 10, 21, 12, 0, 30);
const HOUR = 3_600_000;
const COST = 50_000;

/** What many do at once at the edge of something that there is not enough of. */
export interface Race {
  /** Makes what they race for. */
  ready(store: Store): void;
  /** One of them; what it came to. `n` is its own. */
  run(store: Store, n: string): unknown;
}

/** An account with a key of the same id, and as many credits. */
function account(store: Store, id: string, { credits = 0, plan = 'daily' as 'daily' | 'monthly' } = {}): void {
  store.records.accounts.ofEmail(`${id}@example.org`, { id, plan, made_at: NOON });
  const key = { id, account: id, level: 'account' as const, name: id, made_at: NOON, used_at: null };
  store.records.serviceKeys.insert(
    { ...key, made_by: 'cli', expires_at: null, revoked_by: null, revoked_at: null },
    id,
  );
  if (credits > 0) store.records.credits.append(id, { at: NOON, amount: credits, note: null });
}

const take = (store: Store, id: string, limits: { daily: number; perMinute: number }) =>
  store.database.groupCommit(() => {
    const taken = store.records.meter.reserve({ account: id, key: id, at: NOON }, limits);
    return taken?.outcome === 'reserved' ? taken.reservation.from : taken?.outcome;
  });

const SECRET = Buffer.alloc(32, 1);
const fresh = { now: () => NOON, newId: randomUUID, random: randomBytes, secret: SECRET };

function payment(n: number): { payment: Payment; id: PaymentId } {
  const made = decodePayment(samplePayment(1, {}, { nonce: `0x${String(n).padStart(64, '0')}` }), 1);
  return { payment: made, id: paymentId(made, OFFER) };
}

const hold = (holder: string) => ({ request: 'request', holder, until: NOON + 5_000 });
const about = { resource: OFFER.resource, units: OFFER.units, at: NOON };
const PAID = payment(1);
const CLAIMED = payment(2);
const LEFT = payment(3);
const SOLD = payment(4);

export const RACES: Record<string, Race> = {
  'the included requests of a day, and a balance': {
    ready: (store) => account(store, 'balance', { credits: 7 * COST + 1 }),
    run: (store) => take(store, 'balance', { daily: 10, perMinute: 1_000 }),
  },
  'the included requests of a month': {
    ready(store) {
      account(store, 'month', { plan: 'monthly' });
      store.records.meter.setBurst('month', 31);
    },
    run: (store) => take(store, 'month', { daily: 1, perMinute: 1_000 }),
  },
  'the minute of a key': {
    ready: (store) => account(store, 'minute'),
    run: (store) => take(store, 'minute', { daily: 1_000, perMinute: 20 }),
  },
  'the slot of a keyless caller': {
    ready: () => {},
    run: (store) => store.database.groupCommit(() => store.records.keyless.admit('192.0.2.1', () => NOON, 1_000).pass),
  },
  'the ceiling of all keyless callers': {
    ready: () => {},
    // One of them is the caller above.
    run: (store, n) => store.database.groupCommit(() => store.records.keyless.admit(n, () => NOON, 20 + 1).pass),
  },
  'one purchase of credits': {
    ready: (store) => account(store, 'buyer'),
    run(store) {
      const entered = store.records.credits.append('buyer', { at: NOON, amount: COST, note: null, ref: 'x402:one' });
      return typeof entered === 'object' ? 'entered' : entered;
    },
  },
  'a balance that is taken away, while it is drawn': {
    ready: (store) => account(store, 'taken', { credits: 20 * COST }),
    async run(store, n) {
      if (n.endsWith('0')) return (await take(store, 'taken', { daily: 0, perMinute: 1_000 })) === 'credits' ? 1 : 0;
      return typeof store.records.credits.append('taken', { at: NOON, amount: -COST, note: null }) === 'object' ? 1 : 0;
    },
  },
  'a payment that nobody has': {
    ready: () => {},
    run: (store, n) => store.records.payments.claim(CLAIMED.id, hold(n), about),
  },
  'a payment whose holder has died': {
    ready: (store) => void store.records.payments.claim(LEFT.id, { ...hold('dead'), until: NOON - 1 }, about),
    run(store, n) {
      const found = store.records.payments.find(LEFT.id);
      return found?.holder === 'dead' && store.records.payments.takeOver(LEFT.id, found, hold(n));
    },
  },
  'the repeats of an answer': {
    ready({ records: { payments } }) {
      payments.claim(PAID.id, hold('one'), about);
      payments.settling(PAID.id, 'one', { status: 200, headers: [], body: Buffer.from('answer') }, 'hash');
      payments.settled(PAID.id, NOON, '0x1');
      for (let n = 20; n < REPEATS; n++) payments.repeat(PAID.id, REPEATS);
    },
    run: (store) => store.records.payments.repeat(PAID.id, REPEATS),
  },
  'one payment at the till': {
    ready: () => {},
    async run(store, n) {
      const did: string[] = [];
      const slowly = async <T>(what: string, answer: T): Promise<T> => {
        did.push(what);
        await wait(20);
        return answer;
      };
      const till = new Checkout({
        payments: store.records.payments,
        facilitator: {
          verify: () => slowly('verify', 'valid' as const),
          settle: () => slowly('settle', { settled: '0x1' }),
        },
        chain: null,
        now: Date.now,
        newId: randomUUID,
        wait,
        groupCommit: store.database.groupCommit,
        repeat: () => () => {},
      });
      const run = () => slowly('run', { status: 200, headers: [], body: Buffer.from(`answer to ${n}`) });
      const sold = await till.sell({ payment: SOLD.payment, offer: OFFER, request: 'one', run });
      const text = sold.outcome === 'served' ? Buffer.from(sold.bought.body ?? []).toString() : sold.outcome;
      return { text, did };
    },
  },
  'links to sign in for one address': {
    ready: () => {},
    run: (store) => requestSignIn(store.records, 'stranger@example.org', fresh),
  },
  'one link to sign in': {
    ready(store) {
      requestSignIn(store.records, 'guest@example.org', { ...fresh, newId: () => 'the-link' });
      store.records.accountMails.sent('the-link', NOON);
    },
    run(store) {
      try {
        return signIn(store.records, linkToken(SECRET, 'sign-in', 'the-link'), fresh).account.email;
      } catch (error) {
        if (error instanceof Fault) return error.code;
        throw error;
      }
    },
  },
  'orders for one reader': {
    ready: () => {},
    run(store) {
      const address = { email: 'reader@example.org', key: 'reader@example.org' };
      subscribe(store.desk, PAPER, address, DEFAULT_CHOICES, { now: NOON, newId: randomUUID });
    },
  },
  'mails that are due': {
    ready({ records: { accountMails } }) {
      for (let n = 0; n < 20; n++) {
        accountMails.queue({ id: `mail-${n}`, account: null, email: `a${n}@x.example`, kind: 'digest', due_at: NOON });
      }
    },
    run: (store) => store.records.accountMails.lease(NOON, NOON + HOUR, 1).map(({ id }) => id),
  },
  'hostnames that are due': {
    ready({ records }) {
      records.watch(
        Array.from({ length: 20 }, (_, n) => parseHostname(`h${n}.example.com`)),
        NOON,
      );
    },
    run: ({ records }, n) =>
      records.lease({ id: n, owner: n, max: 1, until: NOON + HOUR, now: NOON }).map(({ hostname }) => hostname),
  },
  'a lease of one process': {
    ready: () => {},
    run: (store, n) => store.database.leases.acquire('race', n, () => NOON, HOUR),
  },
};

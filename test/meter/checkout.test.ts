import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Checkout, type CheckoutOutcome } from '../../src/records/meter/checkout.ts';
import { decodePayment, type Payment } from '../../src/records/meter/payment.ts';
import type { Bought, Chain, Facilitator } from '../../src/records/meter/purchase.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

const app = appContextIn({ after }, tempFolder({ after }), { now: 0 });
/** Every run has payments of its own in the one table. */
let nonces = 0;

/** How one request goes: what each that it asks does, and where its process is killed. */
interface Script {
  payment: number;
  path: number;
  verify: 'honest' | 'down';
  /** `late` moves the money some time after; `denies` moves it and says that it did not. */
  settle: 'honest' | 'silent' | 'late' | 'dead' | 'refuses' | 'denies' | 'lies';
  sees: boolean;
  fails: boolean;
  /** Somebody else sends it, who knows what the chain shows of it and has no signature. */
  stranger: boolean;
  /** The step at which its process is killed; steps past the end are none. */
  killed: number;
  /** How long each step takes, in turns of the event loop. */
  slow: number;
}

const script = fc.record<Script>({
  payment: fc.nat(1),
  path: fc.nat(1),
  verify: fc.constantFrom('honest', 'honest', 'honest', 'down'),
  settle: fc.constantFrom('honest', 'honest', 'silent', 'late', 'dead', 'refuses', 'denies', 'lies'),
  sees: fc.boolean(),
  fails: fc.constantFrom(false, false, false, true),
  stranger: fc.constantFrom(false, false, false, true),
  killed: fc.nat(12),
  slow: fc.nat(3),
});

const HONEST: Omit<Script, 'payment' | 'path'> = {
  verify: 'honest',
  settle: 'honest',
  sees: true,
  fails: false,
  stranger: false,
  killed: 99,
  slow: 0,
};

type Ending = CheckoutOutcome | 'killed';

/** A chain, and the requests that come and go over it. */
class World {
  readonly payments: Payment[];
  readonly moved = new Set<string>();
  readonly cancelled = new Set<string>();
  readonly #isBlind: boolean;
  readonly late: string[] = [];
  readonly served: { payment: number; path: number; text: string }[] = [];
  now = 1_000_000;
  runs = 0;

  /** `isBlind`: the till has no node of the chain. */
  constructor(isBlind = false) {
    this.#isBlind = isBlind;
    this.payments = [0, 1].map(() => {
      const nonce = `0x${(++nonces).toString(16).padStart(64, '0')}`;
      return decodePayment(samplePayment(1, {}, { nonce }), 1);
    });
  }

  async request(how: Script): Promise<Ending> {
    let kill = (_: 'killed'): void => {};
    const killed = new Promise<'killed'>((resolve) => {
      kill = resolve;
    });
    let steps = 0;
    // A killed process does nothing more, not even what it does at its end.
    const step = async () => {
      for (let turn = 0; turn < how.slow; turn++) await new Promise(setImmediate);
      if (steps++ !== how.killed) return;
      kill('killed');
      await new Promise(() => {});
    };
    const till = new Checkout({
      payments: app.store.records.payments,
      facilitator: this.facilitator(how, step),
      chain: this.#isBlind ? null : this.chain(how, step),
      now: () => this.now,
      newId: () => `holder-${Math.random()}`,
      wait: async (ms) => {
        this.now += ms;
        await new Promise(setImmediate);
      },
      groupCommit: app.store.database.groupCommit,
      repeat: () => () => {},
    });
    const run = async (): Promise<Bought | null> => {
      await step();
      if (how.fails) return null;
      return { status: 200, headers: [], body: Buffer.from(`answer ${++this.runs} to ${how.path}`) };
    };
    const payment = how.stranger ? forged(this.payments[how.payment]) : (this.payments[how.payment] as Payment);
    const ending = await Promise.race([till.sell({ payment, offer: OFFER, request: `path ${how.path}`, run }), killed]);
    if (ending !== 'killed' && how.stranger) assert.notEqual(ending.outcome, 'served', 'a stranger got an answer');
    if (ending !== 'killed' && ending.outcome === 'refused' && !how.stranger) {
      const isPaid = this.moved.has(payment.transfer.authorization.nonce);
      assert.equal(isPaid, false, 'a payer was told that nothing was charged');
    }
    if (ending !== 'killed' && ending.outcome === 'served') {
      const text = Buffer.from(ending.bought.body ?? []).toString();
      this.served.push({ payment: how.payment, path: how.path, text });
    }
    return ending;
  }

  /** What was under way on the chain arrives. */
  settleDown(): void {
    for (const nonce of this.late.splice(0)) if (!this.isUsed(nonce)) this.moved.add(nonce);
    this.now += 60_000;
  }

  private facilitator(how: Script, step: () => Promise<void>): Facilitator {
    return {
      verify: async ({ transfer }) => {
        await step();
        if (how.verify === 'down') return 'down';
        if (this.isUsed(transfer.authorization.nonce)) return { refused: 'already_spent' };
        return transfer.signature === FORGED ? { refused: 'bad_signature' } : 'valid';
      },
      settle: async ({ transfer }) => {
        const { nonce } = transfer.authorization;
        await step();
        if (transfer.signature === FORGED) return { refused: 'bad_signature' };
        if (how.settle === 'lies') return { settled: null };
        if (how.settle === 'dead') return 'unknown';
        if (how.settle === 'refuses') return { refused: 'insufficient_funds' };
        if (how.settle === 'late') {
          this.late.push(nonce);
          return 'unknown';
        }
        if (this.isUsed(nonce)) return { refused: 'already_spent' };
        this.moved.add(nonce);
        await step();
        if (how.settle === 'denies') return { refused: 'insufficient_funds' };
        return how.settle === 'silent' ? 'unknown' : { settled: null };
      },
    };
  }

  private chain(how: Script, step: () => Promise<void>): Chain {
    return {
      status: async ({ transfer }) => {
        await step();
        // A node that cannot be asked would let a liar through; what is believed then is tested elsewhere.
        if (!how.sees && how.settle !== 'lies') return 'unseen';
        return this.moved.has(transfer.authorization.nonce) ? { paid: '0x1' } : 'open';
      },
      isSigned: async ({ transfer }) => {
        await step();
        return how.sees ? transfer.signature !== FORGED : null;
      },
    };
  }

  private isUsed(nonce: string): boolean {
    return this.moved.has(nonce) || this.cancelled.has(nonce);
  }
}

test('through crashes, lies and silence: a payer gets the response once, others get nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(script, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), async (batches) => {
      const world = new World();
      for (const batch of batches) {
        await Promise.all(batch.map((how) => world.request(how)));
        world.now += 2_000;
      }
      for (const { payment } of world.served) {
        assert.ok(world.moved.has(nonceOf(world, payment)), 'an answer went out and no money came');
      }
      world.settleDown();
      for (const at of [0, 1]) {
        const paid = world.moved.has(nonceOf(world, at));
        const endings: Ending[] = [];
        // By the same payment for either request: one of the two is what it is for.
        for (const path of [0, 1]) endings.push(await world.request({ ...HONEST, payment: at, path }));
        const outcomes = endings.map((ending) => (ending === 'killed' ? ending : ending.outcome));
        assert.deepEqual(outcomes.toSorted(), ['conflict', 'served'], paid ? 'paid' : 'not paid before');
        const answers = world.served.filter(({ payment }) => payment === at);
        assert.equal(new Set(answers.map(({ path }) => path)).size, 1, 'one payment bought two things');
        assert.equal(new Set(answers.map(({ text }) => text)).size, 1, 'one payment bought two answers');
      }
    }),
    { numRuns: 150 },
  );
});

test('without a chain: a payer who cancels an authorization gets nothing, whatever happened before', async () => {
  const blind = fc.record({ how: script, cancels: fc.constantFrom(false, false, true) });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(blind, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), async (batches) => {
      const world = new World(true);
      for (const batch of batches) {
        await Promise.all(
          batch.map(({ how, cancels }) => {
            const nonce = nonceOf(world, how.payment);
            if (cancels && !world.moved.has(nonce)) world.cancelled.add(nonce);
            // Where there is no chain, what a facilitator says of its own settling is believed, and nothing else is.
            const settle = how.settle === 'lies' || how.settle === 'denies' ? 'honest' : how.settle;
            return world.request({ ...how, settle });
          }),
        );
        world.settleDown();
      }
      for (const { payment } of world.served) {
        assert.ok(world.moved.has(nonceOf(world, payment)), 'an answer went out and no money came');
      }
    }),
    { numRuns: 150 },
  );
});

const FORGED = `0x${'00'.repeat(65)}`;

/** The payment of somebody who has no signature of its payer. */
function forged(payment: Payment | undefined): Payment {
  const { transfer, ...rest } = payment as Payment;
  return { ...rest, transfer: { ...transfer, signature: FORGED } };
}

function nonceOf({ payments }: World, at: number): string {
  return (payments[at] as Payment).transfer.authorization.nonce;
}

import { DAY, HOUR } from '../../proof/time.ts';
import { type Offer, offerMismatch } from './offer.ts';
import type { Payment, Reason } from './payment.ts';
import {
  type Bought,
  type Chain,
  type Facilitator,
  type PaymentId,
  type PaymentTable,
  type Purchase,
  paymentHash,
  paymentId,
  type Settlement,
} from './purchase.ts';

/** How long a hold lasts unless renewed, and how often its holder renews it, in ms. */
const HOLD = 5_000;
const HOLD_BEAT = 1_500;
/** How often (in ms), and how many times, a request checks whether another one has finished with the same payment. */
const POLL = 100;
const POLLS = 100;
/** How long a response is kept for payers that send the same payment again, in ms. */
const ANSWER_KEPT = DAY;
/** How long a payment can reopen its stream, in ms. */
const STREAM_KEPT = HOUR;
/**
 * How many times a payment gets its response again after lost connections. Limited because anyone can read a settled
 * payment on the chain.
 */
export const REPEATS = 100;
const SWEEP = 600_000;

export interface CheckoutOptions {
  payments: PaymentTable;
  facilitator: Facilitator;
  /** Null without a configured node: then the facilitator is trusted. */
  chain: Chain | null;
  now(): number;
  newId(): string;
  wait(ms: number): Promise<void>;
  /** Makes a change, and resolves when it is on disk. Waits for `patience` ms while another process writes. */
  groupCommit<T>(change: () => T, patience?: number): Promise<T>;
  /** Calls `work` every `ms`; returns a function that stops it. */
  repeat(work: () => void, ms: number): () => void;
}

export interface Order {
  payment: Payment;
  offer: Offer;
  request: string;
  /** Produces the response; null when it failed, and then nothing is charged. Called at most once. */
  run(): Promise<Bought | null>;
  /** Whether the transfer must be confirmed on the chain, rather than by the facilitator alone. */
  mustConfirm?: boolean;
  /**
   * Further writes for the transaction that stores the payment before money may move, and for the one that records its
   * arrival.
   */
  record?: { settling(): void; settled(transaction: string | null): void };
}

export type CheckoutOutcome =
  | { outcome: 'served'; bought: Bought; transaction: string | null; again: boolean }
  /** The handler rejected the request or failed; its own response is sent. */
  | { outcome: 'failed' }
  | { outcome: 'refused'; reason: Reason }
  | { outcome: 'conflict'; why: 'other_request' | 'other_payment' | 'answer_gone' | 'repeated' }
  /**
   * Retry: another request holds the payment, the facilitator is unreachable, it is unknown whether money moved, or the
   * nonce was used and, without a chain, its purpose is unknown.
   */
  | { outcome: 'later'; why: 'busy' | 'down' | 'unknown' | 'unproven' };

/**
 * Sells responses for payments. Money moves only after the response was stored; a payer gets it by sending the same
 * payment again, whatever crashed or timed out in between.
 */
export class Checkout {
  readonly #options: CheckoutOptions;
  #swept = Number.NEGATIVE_INFINITY;

  constructor(options: CheckoutOptions) {
    this.#options = options;
  }

  async sell(order: Order): Promise<CheckoutOutcome> {
    const { payments, now, newId, wait, groupCommit } = this.#options;
    const { payment, offer, request } = order;
    const id = paymentId(payment, offer);
    const hash = paymentHash(payment);
    const holder = newId();
    this.#sweep();
    for (let polls = 0; ; polls++) {
      const found = payments.find(id);
      if (found !== null && found.state !== 'claimed') {
        if (found.hash !== null && found.hash !== hash) return otherPayment;
        if (found.request !== request) return otherRequest;
      }
      if (found?.state === 'settled') return this.#again(order, id, found);
      if (found !== null && isHeld(found, now())) {
        if (found.request !== request) return otherRequest;
        if (polls === POLLS) return { outcome: 'later', why: 'busy' };
        await wait(POLL);
        continue;
      }
      const hold = { request, holder, until: now() + HOLD };
      if (found?.state === 'settling') {
        if (await groupCommit(() => payments.takeOver(id, found, hold)))
          return this.#held(id, holder, () => this.#resume(order, id, holder, found));
        continue;
      }
      const reason = offerMismatch(payment, offer, now());
      if (reason !== null && reason !== 'expired') return { outcome: 'refused', reason };
      const about = { resource: offer.resource, units: offer.units, at: now() };
      const take = () => (found === null ? payments.claim(id, hold, about) : payments.takeOver(id, found, hold));
      const mine = await groupCommit(take);
      if (mine) return this.#held(id, holder, () => this.#begin(order, id, holder, reason));
    }
  }

  /** Runs a holder's work, renewing its hold meanwhile. An undecided purchase is left to the next request. */
  async #held(id: PaymentId, holder: string, work: () => Promise<CheckoutOutcome>): Promise<CheckoutOutcome> {
    const { payments, now, repeat } = this.#options;
    const stop = repeat(() => ifPossible(() => payments.extend(id, holder, now() + HOLD)), HOLD_BEAT);
    try {
      return await work();
    } finally {
      stop();
      ifPossible(() => payments.leave(id, holder));
    }
  }

  async #begin(order: Order, id: PaymentId, holder: string, late: Reason | null): Promise<CheckoutOutcome> {
    const { payments, facilitator, chain } = this.#options;
    const { payment, offer } = order;
    const verdict = late === null ? await facilitator.verify(payment, offer) : { refused: late };
    let paid: string | null = null;
    if (verdict !== 'valid') {
      // Someone else may have submitted it to the chain: then the money has arrived.
      const status = (await chain?.status(payment, offer)) ?? 'unseen';
      const isPaid = typeof status === 'object' && 'paid' in status;
      // Payer and nonce are public on the chain; only the payer has the signature.
      const signed = isPaid ? await chain?.isSigned(payment, offer) : null;
      if (!isPaid || signed !== true) {
        payments.drop(id, holder);
        if (isPaid && signed === false) return { outcome: 'refused', reason: 'bad_signature' };
        if (isPaid || verdict === 'down') return { outcome: 'later', why: 'down' };
        if (chain === null && verdict.refused === 'already_spent') return unproven;
        return { outcome: 'refused', reason: typeof status === 'object' ? status.void : verdict.refused };
      }
      paid = status.paid;
    }
    const bought = await order.run();
    if (bought === null) {
      payments.drop(id, holder);
      return { outcome: 'failed' };
    }
    if (!(await this.#settling(order, id, holder, bought))) return { outcome: 'later', why: 'busy' };
    if (paid !== null) return this.#served(order, id, bought, paid);
    return this.#settle(order, id, holder, bought, { first: true });
  }

  /** Continues a payment whose settlement had an unknown result, or whose holder died during it. */
  async #resume(order: Order, id: PaymentId, holder: string, found: Purchase): Promise<CheckoutOutcome> {
    const { payments, facilitator, chain } = this.#options;
    const { payment, offer } = order;
    if (found.hash === null && chain !== null) {
      // Written by a version that stored no hash.
      const signed = await chain.isSigned(payment, offer);
      if (signed === null) return { outcome: 'later', why: 'unknown' };
      if (!signed) return otherPayment;
    }
    const status = (await chain?.status(payment, offer)) ?? 'unseen';
    if (typeof status === 'object' && 'void' in status) {
      payments.drop(id, holder);
      return { outcome: 'refused', reason: status.void };
    }
    if (chain === null) {
      const verdict = await facilitator.verify(payment, offer);
      if (typeof verdict === 'object' && verdict.refused === 'already_spent') return unproven;
      if (verdict !== 'valid') return { outcome: 'later', why: 'unknown' };
    }
    const bought = isWhole(found.bought) ? found.bought : await order.run();
    if (bought === null) return { outcome: 'failed' };
    if (!(await this.#settling(order, id, holder, bought))) return { outcome: 'later', why: 'busy' };
    if (typeof status === 'object') return this.#served(order, id, bought, status.paid);
    return this.#settle(order, id, holder, bought, { first: false });
  }

  /** Settles the payment. `first`: no settlement was requested before. */
  async #settle(
    order: Order,
    id: PaymentId,
    holder: string,
    bought: Bought,
    { first }: { first: boolean },
  ): Promise<CheckoutOutcome> {
    const { payments, facilitator, chain } = this.#options;
    const { payment, offer, mustConfirm = false } = order;
    const settlement = await facilitator.settle(payment, offer);
    const refused = typeof settlement === 'object' && 'refused' in settlement ? settlement.refused : null;
    const how = { poll: refused === null, reported: isSettled(settlement) ? settlement.settled : null };
    const status = (await chain?.status(payment, offer, how)) ?? 'unseen';
    if (typeof status === 'object' && 'paid' in status) return this.#served(order, id, bought, status.paid);
    if (typeof status === 'object') {
      payments.drop(id, holder);
      return { outcome: 'refused', reason: status.void };
    }
    if (status === 'unseen' && isSettled(settlement) && !mustConfirm)
      return this.#served(order, id, bought, settlement.settled);
    if (chain === null && refused === 'already_spent') return unproven;
    if (refused !== null && first && (status === 'open' || (chain === null && refused !== 'transfer_failed'))) {
      payments.drop(id, holder);
      return { outcome: 'refused', reason: refused };
    }
    return { outcome: 'later', why: 'unknown' };
  }

  /** Stores the response and the payment's hash before money may move; false when the hold was lost. */
  #settling({ payment, record }: Order, id: PaymentId, holder: string, bought: Bought): Promise<boolean> {
    const { payments, groupCommit } = this.#options;
    return groupCommit(() => {
      const isMine = payments.settling(id, holder, bought, paymentHash(payment));
      if (isMine) record?.settling();
      return isMine;
    });
  }

  async #served(
    { record }: Order,
    id: PaymentId,
    bought: Bought,
    transaction: string | null,
  ): Promise<CheckoutOutcome> {
    const { payments, now, groupCommit } = this.#options;
    // The money has moved. Without a node of the chain, its purpose could not be determined later.
    await groupCommit(() => {
      payments.settled(id, now(), transaction);
      record?.settled(transaction);
    }, Number.POSITIVE_INFINITY);
    return { outcome: 'served', bought, transaction, again: false };
  }

  /** Handles a settled payment that is sent again: the same bytes, while they are kept, at most `REPEATS` times. */
  async #again(order: Order, id: PaymentId, found: Purchase): Promise<CheckoutOutcome> {
    const { payments, now } = this.#options;
    const { hash, bought, claimed_at, settled_at, transaction } = found;
    const isStream = bought?.body === null && now() - (settled_at ?? 0) < STREAM_KEPT;
    const isKept = isWhole(bought) && now() - claimed_at < ANSWER_KEPT;
    if (hash === null || !(isStream || isKept)) return { outcome: 'conflict', why: 'answer_gone' };
    if (!payments.repeat(id, REPEATS)) return { outcome: 'conflict', why: 'repeated' };
    const answer = isStream ? await order.run() : bought;
    if (answer === null) return { outcome: 'failed' };
    return { outcome: 'served', bought: answer, transaction, again: true };
  }

  #sweep(): void {
    const { payments, now } = this.#options;
    if (now() < this.#swept + SWEEP) return;
    this.#swept = now();
    payments.forgetAnswers(now() - ANSWER_KEPT);
  }
}

/** Only the chain knows whether a nonce was used for this transfer or cancelled. */
const unproven: CheckoutOutcome = { outcome: 'later', why: 'unproven' };
const otherPayment: CheckoutOutcome = { outcome: 'conflict', why: 'other_payment' };
const otherRequest: CheckoutOutcome = { outcome: 'conflict', why: 'other_request' };

/** A hold that ends far later than `HOLD` allows dates from before the clock was set back; its holder may be gone. */
function isHeld({ held_until }: Purchase, now: number): boolean {
  return held_until > now && held_until <= now + 2 * HOLD;
}

/**
 * For changes of a hold, which expires by itself if it is neither renewed nor released. An exception in a timer would
 * end the process.
 */
function ifPossible(change: () => void): void {
  try {
    change();
  } catch {
    // The database is locked, or the disk rejects writes.
  }
}

function isWhole(bought: Bought | null): bought is Bought {
  return bought !== null && bought.body !== null;
}

function isSettled(settlement: Settlement): settlement is { settled: string | null } {
  return typeof settlement === 'object' && 'settled' in settlement;
}

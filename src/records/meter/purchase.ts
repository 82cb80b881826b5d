import { createHash } from 'node:crypto';
import type { Offer } from './offer.ts';
import type { Payment, Reason } from './payment.ts';

/** The identity of a payment, however it is sent: the chain accepts a payer's nonce once. */
export interface PaymentId {
  network: string;
  asset: string;
  payer: string;
  nonce: string;
}

/** A bought response. `body` is null for a stream, which is not stored. */
export interface Bought {
  status: number;
  headers: [string, string][];
  body: Uint8Array | null;
}

export interface Purchase {
  request: string;
  /** Hash of the payment, once its signature was verified; null before, and for purchases of older versions. */
  hash: string | null;
  state: 'claimed' | 'settling' | 'settled';
  /** The request that processes it, and when its hold ends, in ms. */
  holder: string;
  held_until: number;
  claimed_at: number;
  settled_at: number | null;
  transaction: string | null;
  bought: Bought | null;
}

/** A request's hold on a purchase; `until` in ms. */
interface Hold {
  request: string;
  holder: string;
  until: number;
}

/** Every change is one statement whose WHERE clause requires the state that the caller read. */
export interface PaymentTable {
  find(id: PaymentId): Purchase | null;
  /** Creates a purchase; false when there is one already. */
  claim(id: PaymentId, hold: Hold, about: { resource: string; units: number; at: number }): boolean;
  /** Takes over a purchase whose hold ended; false when another request was faster. */
  takeOver(id: PaymentId, from: Purchase, hold: Hold): boolean;
  extend(id: PaymentId, holder: string, until: number): void;
  /** Stores the response and the payment's hash before settlement; false when the hold was lost. */
  settling(id: PaymentId, holder: string, bought: Bought, hash: string): boolean;
  /** Records that the money arrived, whichever request found out. */
  settled(id: PaymentId, at: number, transaction: string | null): void;
  /** Counts a repeated response; false when there were `most` already. */
  repeat(id: PaymentId, most: number): boolean;
  leave(id: PaymentId, holder: string): void;
  drop(id: PaymentId, holder: string): void;
  forgetAnswers(before: number): void;
}

type Verdict = 'valid' | 'down' | { refused: Reason };
export type Settlement = 'unknown' | { settled: string | null } | { refused: Reason };

/** Verifies and settles payments. It is trusted as little as possible. */
export interface Facilitator {
  verify(payment: Payment, offer: Offer): Promise<Verdict>;
  settle(payment: Payment, offer: Offer): Promise<Settlement>;
}

/**
 * The state of an authorization on the chain: `paid` for this offer, with the transaction; `open`, neither used nor
 * expired; `void`, it can never pay for this offer; `unseen`, the node did not answer.
 */
export type ChainStatus = { paid: string } | 'open' | { void: Reason } | 'unseen';

export interface Chain {
  /**
   * Reads once, or with `poll` until the payment appears or a few seconds have passed. `reported` is the transaction
   * that the facilitator named.
   */
  status(payment: Payment, offer: Offer, how?: { poll: boolean; reported: string | null }): Promise<ChainStatus>;
  /** Whether the payer signed it, as a wallet or as a contract (EIP-1271); null when the node did not answer. */
  isSigned(payment: Payment, offer: Offer): Promise<boolean | null>;
}

export function paymentId({ transfer }: Payment, { network, asset }: Pick<Offer, 'network' | 'asset'>): PaymentId {
  const { from: payer, nonce } = transfer.authorization;
  return { network: network.caip2, asset: asset.address, payer, nonce };
}

/**
 * SHA-256, in hex, of all signed fields and of the signature. Unlike the purchase id, it cannot be computed from public
 * data.
 */
export function paymentHash({ transfer: { authorization, signature } }: Payment): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const text = [from, to, value, validAfter, validBefore, nonce, signature.toLowerCase()].join('\n');
  return createHash('sha256').update(text).digest('hex');
}

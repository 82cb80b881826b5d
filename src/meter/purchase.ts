import { createHash } from 'node:crypto';
import type { Offer } from './offer.ts';
import type { Payment } from './payment.ts';
import type { Reason } from './reasons.ts';

/** What makes a payment one payment, however it is sent: the chain takes a payer's nonce once. */
export interface PaymentId {
  /** By CAIP-2. */
  network: string;
  asset: string;
  payer: string;
  nonce: string;
}

/** An answer as it was bought. `body` is null for a stream: there is nothing to keep. */
export interface Bought {
  status: number;
  headers: [string, string][];
  body: Uint8Array | null;
}

export interface Purchase {
  /** What it buys: a hash of the method and the address. */
  request: string;
  /** Of the payment, once its signature was checked; null before, and where an older version kept none. */
  hash: string | null;
  state: 'claimed' | 'settling' | 'settled';
  /** The request that works on it, and until when (in ms) its hold lasts. */
  holder: string;
  held_until: number;
  claimed_at: number;
  settled_at: number | null;
  transaction: string | null;
  /** Null before there is one, and once it is no longer kept. */
  bought: Bought | null;
}

/** Which request works on a purchase, until when, and what for. */
export interface Hold {
  request: string;
  holder: string;
  until: number;
}

/** Every change is one statement that holds only while the purchase is as the caller knows it. */
export interface PaymentTable {
  find(id: PaymentId): Purchase | null;
  /** Begins a purchase; false when there is one. */
  claim(id: PaymentId, hold: Hold, about: { resource: string; units: number; at: number }): boolean;
  /** Takes over a purchase that has no holder any more; false when another request was quicker. */
  takeOver(id: PaymentId, from: Purchase, hold: Hold): boolean;
  /** Renews its holder's hold. */
  extend(id: PaymentId, holder: string, until: number): void;
  /** Keeps the answer, and whose it is, before the chain is asked; false when the hold was lost. */
  settling(id: PaymentId, holder: string, bought: Bought, hash: string): boolean;
  /** The money is there, whoever found it. */
  settled(id: PaymentId, at: number, transaction: string | null): void;
  /** Counts that a settled purchase is given out again; false when it was `most` times already. */
  repeat(id: PaymentId, most: number): boolean;
  /** Its holder leaves it as it is. */
  leave(id: PaymentId, holder: string): void;
  /** Its holder ends it: no money moved. */
  drop(id: PaymentId, holder: string): void;
  /** Forgets the bodies of purchases claimed before a time. */
  forgetAnswers(before: number): void;
}

export type Verdict = 'valid' | 'down' | { refused: Reason };
export type Settlement = 'unknown' | { settled: string | null } | { refused: Reason };

/** Who checks payments and has them carried out. It is believed as little as can be. */
export interface Facilitator {
  verify(payment: Payment, offer: Offer): Promise<Verdict>;
  settle(payment: Payment, offer: Offer): Promise<Settlement>;
}

/**
 * What the chain has of an authorization: `paid` for this offer, in which
 * transaction; `open`, neither used nor past its time; `void`, it never will
 * pay for this; `unseen`, the chain did not say.
 */
export type ChainStatus = { paid: string } | 'open' | { void: Reason } | 'unseen';

export interface Chain {
  /**
   * Looks until the payment shows or some seconds have gone when `patient`, and once otherwise. `told` is the
   * transaction that it is said to be in.
   */
  status(payment: Payment, offer: Offer, how?: { poll: boolean; reported: string | null }): Promise<ChainStatus>;
  /** Whether the payer signed it, as a wallet or as a contract (EIP-1271); null when the chain did not say. */
  isSigned(payment: Payment, offer: Offer): Promise<boolean | null>;
}

export function paymentId({ transfer }: Payment, { network, asset }: Offer): PaymentId {
  const { from: payer, nonce } = transfer.authorization;
  return { network: network.caip2, asset: asset.address, payer, nonce };
}

/** A hash of all that was signed and of the signature: what a stranger who knows the id has not. SHA-256 in hex. */
export function paymentHash({ transfer: { authorization, signature } }: Payment): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const text = [from, to, value, validAfter, validBefore, nonce, signature.toLowerCase()].join('\n');
  return createHash('sha256').update(text).digest('hex');
}

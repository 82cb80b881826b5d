import { createHash, createHmac } from 'node:crypto';
import { HOUR } from '../time.ts';

/** What a mailed link is for: to confirm one request, or to change and end a subscription at any time. */
export type Purpose = 'confirm' | 'manage';

/** A stored token, by its hash. Times in ms. */
export interface Token {
  hash: string;
  paper: string;
  reader: string;
  purpose: Purpose;
  /** Null never expires. */
  expires_at: number | null;
  used_at: number | null;
}

export interface TokenTable {
  /** Stores a token; an existing one of the same hash stays as it is. */
  keep(token: Token): void;
  get(hash: string): Token | null;
  /** False when it was used before. */
  use(hash: string, at: number): boolean;
  /** Deletes a reader's tokens, or those of one purpose. */
  drop(paper: string, reader: string, purpose?: Purpose): void;
  /** Deletes those that expired at or before a time. */
  forget(until: number): void;
}

/** How long a mailed link confirms, in ms (wire.md, "Subscribers, mail, webhooks"). */
export const CONFIRM_LIFETIME = 72 * HOUR;

/**
 * The token of a mail or of a reader: 256 bits that only the holder of the secret can compute. It is deterministic, so
 * that a mail that is sent again says the same, and no token is stored in the clear until its mail goes out.
 */
export function tokenOf(secret: Uint8Array, purpose: Purpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

/** What is stored of a token: the hex of its SHA-256. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

import { createHash, createHmac } from 'node:crypto';
import { HOUR } from '../time.ts';

/** What a mailed link is for: to confirm one order, or to change and end a subscription at any time. */
export type Purpose = 'confirm' | 'manage';

/** A token as it is kept: by its hash. Times in ms. */
export interface Token {
  hash: string;
  paper: string;
  reader: string;
  purpose: Purpose;
  /** Null has no end. */
  expires_at: number | null;
  used_at: number | null;
}

export interface TokenTable {
  /** Keeps a token; one of the same hash stays as it is. */
  keep(token: Token): void;
  get(hash: string): Token | null;
  /** False when it was used before. */
  use(hash: string, at: number): boolean;
  /** Drops a reader's tokens, or those of one purpose. */
  drop(paper: string, reader: string, purpose?: Purpose): void;
  /** Drops those that ended at or before a time. */
  forget(until: number): void;
}

/** For how long a mailed link confirms, in ms (wire.md, "Subscribers, mail, webhooks"). */
export const CONFIRM_LASTS = 72 * HOUR;

/**
 * The token of a mail or of a reader: 256 bits that only the holder of the
 * secret can make, and always the same, so that a mail that is sent again says
 * the same and no token has to be kept in the clear until its mail goes out.
 */
export function tokenOf(secret: Uint8Array, purpose: Purpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

/** What is kept of a token: the hex of its SHA-256. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

import { createHash, createHmac } from 'node:crypto';
import { HOUR } from '../../proof/time.ts';

/** The purpose of a mailed link: to confirm one request, or to change and end a subscription at any time. */
export type Purpose = 'confirm' | 'manage';

/** A token as it is stored, by hash. Times in ms. */
export interface Token {
  hash: string;
  paper: string;
  reader: string;
  purpose: Purpose;
  /** Null means never. */
  expires_at: number | null;
  used_at: number | null;
}

export interface TokenTable {
  /** Stores a token. An existing one with the same hash stays unchanged. */
  keep(token: Token): void;
  get(hash: string): Token | null;
  /** Marks a token as used. False when it was used before. */
  use(hash: string, at: number): boolean;
  /** Deletes a reader's tokens, or those of one purpose. */
  drop(paper: string, reader: string, purpose?: Purpose): void;
  /** Deletes tokens that expired at or before a time. */
  forget(until: number): void;
}

/** How long a confirmation link is valid, in ms: over a weekend. */
export const CONFIRM_LIFETIME = 72 * HOUR;

/**
 * The token of a mail or of a reader: 256 bits that only the holder of the secret can compute. It is deterministic, so
 * that a resent mail has the same link, and no token is stored in the clear before its mail is sent.
 */
export function tokenOf(secret: Uint8Array, purpose: Purpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

/** The stored form of a token: its SHA-256 in hex. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

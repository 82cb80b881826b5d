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

/** How long a confirmation link is valid, in ms: long enough for a weekend. */
export const CONFIRM_LIFETIME = 72 * HOUR;

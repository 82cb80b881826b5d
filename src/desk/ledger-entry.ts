import type { Piece } from '../ledger/piece.ts';

/** One line of the ledger. Every line carries `at`, the time when it was appended, in ms. */
export type LedgerEntry = KeyEntry | RetirementEntry | RecordEntry | GenerationEntry | AiringEntry | WithdrawalEntry;

/** A public key of the filing door. */
export interface KeyEntry {
  type: 'key';
  at: number;
  kid: string;
  name: string;
  /** Base64 of the 32 bytes. */
  public_key: string;
}

/** Retires a key of the filing door. */
export interface RetirementEntry {
  type: 'retirement';
  at: number;
  kid: string;
}

/** A paper, a persona, a video edition or a media file, as applied. */
export interface RecordEntry {
  type: 'record';
  at: number;
  paper: string;
  kind: 'paper' | 'persona' | 'cast' | 'media';
  /** The persona's slug, the edition's day or the media path; empty for the paper itself. */
  name: string;
  body: unknown;
}

/** A signed filing. */
export interface GenerationEntry {
  type: 'generation';
  /** The receipt's `filed_at`. */
  at: number;
  paper: string;
  seq: number;
  piece: Piece;
  content_hash: string;
  receipt: string;
  receipt_hash: string;
  filed_by: string;
  kid: string;
}

/** A piece goes on air: immediately unless `on_air_at` is later than `at`, else at that time. */
export interface AiringEntry {
  type: 'airing';
  at: number;
  paper: string;
  piece: string;
  on_air_at: number;
  made_by: string;
}

/** A piece is withdrawn, or its schedule is cancelled. */
export interface WithdrawalEntry {
  type: 'withdrawal';
  at: number;
  paper: string;
  piece: string;
  reason: string;
  made_by: string;
}

import type { Piece } from './door/piece.ts';

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

/** What records describe. */
export type RecordKind =
  | 'paper'
  | 'persona'
  | 'cast'
  | 'media'
  | 'page'
  | 'front'
  | 'signing-name'
  | 'clock'
  | 'review'
  | 'fact'
  | 'evidence';

/**
 * A paper, a persona, an edition, a media file, one of the paper's own pages or the placement of a front, as applied;
 * the name of a signing key; a correction of the clock; the review of a piece; a version of a fact, or the evidence for
 * one.
 */
export interface RecordEntry {
  type: 'record';
  at: number;
  /** Empty for a record of the whole service. */
  paper: string;
  kind: RecordKind;
  /**
   * The slug of the persona or the page, the edition's day or the media path; empty for the paper itself and its front;
   * the service of a signing name or a correction; the id of a reviewed piece; the key of a fact; for
   * evidence of an entry without a key, the piece's id and its number: `<id>/<n>`.
   */
  name: string;
  /** Null removes a page, a media file, or the whole paper: it is gone until a later record gives it a body again. */
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
  /** An agent filed it, and a person has to approve it before it goes on air. */
  needs_review?: true;
  /** The piece is scheduled, and waits until its sources are read. */
  awaits_evidence?: true;
}

/** A piece goes on air: immediately unless `on_air_at` is later than `at`, else at that time. */
export interface AiringEntry {
  type: 'airing';
  at: number;
  paper: string;
  piece: string;
  on_air_at: number;
  /** It waits until its sources are read. */
  awaits_evidence?: true;
  made_by: string;
}

/** A piece is withdrawn, its schedule is cancelled, or the headline of a withdrawn piece is withheld. */
export interface WithdrawalEntry {
  type: 'withdrawal';
  at: number;
  paper: string;
  piece: string;
  reason: string;
  /** The headline is no longer shown anywhere. */
  withhold_headline?: true;
  made_by: string;
}

/**
 * Returns a function that gives the clock's time at which each entry of a replayed ledger was appended. Call it with
 * the entries in order. While the clock is set back, entries repeat the time of an earlier one, and the function
 * returns the last distinct clock time. Two entries in the same millisecond give the same result.
 */
export function replayClock(): (entry: LedgerEntry) => number {
  const seen = new Set<number>();
  let clock = Number.NEGATIVE_INFINITY;
  return ({ at }) => {
    if (!seen.has(at)) clock = at;
    seen.add(at);
    return Math.min(clock, at);
  };
}

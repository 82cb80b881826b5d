import type { LogService } from '../../proof/log/leaf.ts';
import type { TileReader } from '../../proof/log/tile.ts';

/** A signed head of a log. */
export interface LogHead {
  /** The number of this head among all heads of the log, from 1. */
  number: number;
  origin: string;
  size: number;
  /** In ms. */
  signed_at: number;
  /** The checkpoint as the log signed it. */
  checkpoint: string;
  /** The checkpoint with the cosignatures that met the quorum; null until then. Never changes once it is set. */
  cosigned: string | null;
}

/** A witness's cosignature of a head. */
export interface LogCosignature {
  origin: string;
  size: number;
  /** The witness's verifier key (C2SP signed-note): `<name>+<hash>+<key>`. */
  vkey: string;
  /** The time that the witness signed, in seconds since 1970. */
  time: number;
  /** The signature line, without its newline. */
  line: string;
}

/** The state of a witness of this log. Times in ms. */
export interface WitnessState {
  vkey: string;
  /** The largest tree that the witness has reported to have seen. */
  seen_size: number;
  /** The largest tree that it has cosigned, and when that was accepted here; null before the first. */
  cosigned_size: number | null;
  cosigned_at: number | null;
  /** Why the last request failed, in one line; null when it did not. */
  fault: string | null;
  /** When the present series of failures began; null without a fault. */
  fault_at: number | null;
  /** The number of failed requests since the last success. */
  failures: number;
  /** Not asked again before this time. */
  next_at: number;
}

/**
 * The tables of the transparency logs, one log for each service. Heads and proofs are computed from these rows alone,
 * never from the published files. Leaves, nodes and cosignatures are append-only; of a head only `cosigned` changes,
 * once, from null.
 */
export interface LogTables {
  /**
   * Appends an entry, in the transaction of what it is about. An entry that the log has already is not appended again.
   * Does nothing until the past is filled in, because that includes this entry.
   */
  append(log: LogService, entry: string): void;
  /** Whether everything that was signed before there was a log has its leaves. */
  isFilled(log: LogService): boolean;
  setFilled(log: LogService, isFilled: boolean): void;
  /** Appends an entry even while the past is being filled in. */
  fill(log: LogService, entry: string): void;

  /** The number of leaves. */
  size(log: LogService): number;
  /** The index of the leaf with this leaf hash; null when there is none. */
  indexOf(log: LogService, hash: Uint8Array): number | null;
  /** The entries from `start` up to, not including, `end`. */
  entries(log: LogService, start: number, end: number): string[];
  /** The leaf hashes from `start` up to, not including, `end`. */
  leafHashes(log: LogService, start: number, end: number): Uint8Array[];
  /** Stores the roots of full tiles: hashes of level 1 or higher, beginning at index `first` within the level. */
  addNodes(log: LogService, level: number, first: number, hashes: readonly Uint8Array[]): void;
  /** The number of stored hashes of a level, from level 1. */
  nodeCount(log: LogService, level: number): number;
  /** Reads tiles from the leaves and nodes, at most as wide as asked for. */
  tiles(log: LogService): TileReader;

  /** Stores a newly signed head. Throws unless it is larger than the last head, or as large and of a new origin. */
  addHead(log: LogService, head: Pick<LogHead, 'origin' | 'size' | 'signed_at' | 'checkpoint'>): void;
  /** Every head of a log, of all origins, oldest first. */
  heads(log: LogService): Iterable<LogHead>;
  /** A head by its number; null for one that there is not. */
  headAt(log: LogService, number: number): LogHead | null;
  /** The head that was signed last, of any origin. */
  lastHead(log: LogService): LogHead | null;
  newestHead(log: LogService, origin: string): LogHead | null;
  newestCosigned(log: LogService, origin: string): LogHead | null;
  /** The first head, of any origin, that met its quorum and covers the leaf: proofs of the leaf name it for ever. */
  firstCosignedOver(log: LogService, index: number): LogHead | null;
  /** The number of leaves that cosigned heads of any origin cover. */
  cosignedSize(log: LogService): number;
  /** When the newest head that met its quorum was signed, or else the first head, in ms. Null before that. */
  cosignedAt(log: LogService): number | null;
  /**
   * Sets `cosigned` of a head. Returns whether it was set: an existing text stays, and a head stays without one once a
   * later head has met its quorum, because the proofs of its leaves name that head by then. The caller has the proofs
   * pressed again (`markProofsStale`).
   */
  setCosigned(log: LogService, origin: string, size: number, cosigned: string): boolean;

  /** Stores a cosignature; a second one by the same key for the same head is dropped. */
  addCosignature(log: LogService, cosignature: LogCosignature): void;
  /** The cosignatures of a head. */
  cosignatures(log: LogService, origin: string, size: number): LogCosignature[];
  /** The state of a witness; a new one has seen nothing. */
  witness(log: LogService, origin: string, vkey: string): WitnessState;
  setWitness(log: LogService, origin: string, state: WitnessState): void;

  /** Calls `check` before each new leaf from now on, and rethrows its errors. */
  guard(check: () => void): void;
  /** Why this copy must not sign, in one line; null when it may. */
  fence(log: LogService): string | null;
  setFence(log: LogService, why: string | null): void;
}

import type { Reader } from './alert.ts';
import type { DigestCadence, DigestRound } from './digest.ts';
import type { KeptEvent } from './event-table.ts';
import type { QueuedMail } from './mail.ts';

/** A mail that tells, with the places of the events that it tells of. */
export interface QueuedAlert extends QueuedMail {
  events: number[];
}

/** What choosing who is told of what asks of the store. Readers come in the order of their ids, from after one of them. */
export interface AlertTable {
  /** Readers who are told at once. */
  instant(paper: string, after: string, limit: number): Reader[];
  /** Readers whose digest this is; with the daily one, those who are owed one since they changed to being told at once. */
  ofDigest(paper: string, cadence: DigestCadence, after: string, limit: number): Reader[];
  /** Whether an earlier event told of the same piece, or of the edition of the same day. */
  isRepeat(event: KeptEvent): boolean;
  /** A paper's events after a place and up to another. */
  events(paper: string, after: number, until: number): KeptEvent[];
  /** Events by their places; those that were forgotten are left out. */
  eventsAt(places: readonly number[]): KeptEvent[];
  /** False when the reader was told of it before. */
  queue(mail: QueuedAlert): boolean;
  /** What a reader was told at once of these pieces and days. */
  alertedInstantly(subscriber: string, matters: readonly string[]): string[];
  /** The places of the events that a mail tells of. */
  eventsOf(mail: string): number[];
  /** Notes that digests are through with an event and all before it, for a reader. */
  markDigested(subscriber: string, n: number): void;
  digest(paper: string, cadence: DigestCadence): DigestRound | null;
  setDigest(paper: string, cadence: DigestCadence, round: DigestRound): void;
  /** Drops mails that were settled at or before a time. */
  forget(until: number): void;
}

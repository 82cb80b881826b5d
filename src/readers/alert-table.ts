import type { Reader } from './alert.ts';
import type { DigestCadence, DigestRound } from './digest.ts';
import type { KeptEvent } from './event-table.ts';
import type { QueuedMail } from './mail.ts';

/** An alert or a digest, with the numbers of its events. */
export interface QueuedAlert extends QueuedMail {
  events: number[];
}

/** What the queues of alerts and digests read and write. Readers come in the order of their ids, after one of them. */
export interface AlertTable {
  /** Readers with instant alerts. */
  instant(paper: string, after: string, limit: number): Reader[];
  /** Readers of a digest; of the daily one also those with a last one due since they changed to instant alerts. */
  ofDigest(paper: string, cadence: DigestCadence, after: string, limit: number): Reader[];
  /** Whether an earlier event announced the same piece, or the edition of the same day. */
  isRepeat(event: KeptEvent): boolean;
  /** A paper's events after a place and up to another. */
  events(paper: string, after: number, until: number): KeptEvent[];
  /** Events by their places; those that were forgotten are left out. */
  eventsAt(places: readonly number[]): KeptEvent[];
  /** False when the reader was mailed about it before. */
  queue(mail: QueuedAlert): boolean;
  /** Which of these pieces and days a reader had instant alerts of. */
  alertedInstantly(subscriber: string, matters: readonly string[]): string[];
  /** The numbers of a mail's events. */
  eventsOf(mail: string): number[];
  /** Notes that digests are through with an event and all before it, for a reader. */
  markDigested(subscriber: string, n: number): void;
  digest(paper: string, cadence: DigestCadence): DigestRound | null;
  setDigest(paper: string, cadence: DigestCadence, round: DigestRound): void;
  /** Drops mails that were settled at or before a time. */
  forget(until: number): void;
}

import type { Reader } from './alert.ts';
import type { DigestCadence, DigestRound } from './digest.ts';
import type { KeptEvent } from './event-table.ts';
import type { QueuedMail } from './mail.ts';

/** An alert or a digest, with the numbers of its events. */
export interface QueuedAlert extends QueuedMail {
  events: number[];
}

/** The data of the queues of alerts and digests. Readers are ordered by id, and listed from after a given one. */
export interface AlertTable {
  /** Readers with instant alerts. */
  instant(paper: string, after: string, limit: number): Reader[];
  /**
   * Readers of a digest. For the daily one, includes readers who changed to instant alerts and are still due a last
   * digest.
   */
  ofDigest(paper: string, cadence: DigestCadence, after: string, limit: number): Reader[];
  /** Whether an earlier event announced the same piece, or the edition of the same day. */
  isRepeat(event: KeptEvent): boolean;
  /** A paper's events after a number, up to another one. */
  events(paper: string, after: number, until: number): KeptEvent[];
  /** Events by number, without those that were deleted. */
  eventsAt(places: readonly number[]): KeptEvent[];
  /** Queues a mail. False when the reader was mailed about it before. */
  queue(mail: QueuedAlert): boolean;
  /** Which of these pieces and days a reader got instant alerts about. */
  alertedInstantly(subscriber: string, matters: readonly string[]): string[];
  /** The numbers of a mail's events. */
  eventsOf(mail: string): number[];
  /** Records that a reader's digests have covered an event and all before it. */
  markDigested(subscriber: string, n: number): void;
  digest(paper: string, cadence: DigestCadence): DigestRound | null;
  setDigest(paper: string, cadence: DigestCadence, round: DigestRound): void;
  /** Deletes mails that were settled at or before a time. */
  forget(until: number): void;
}

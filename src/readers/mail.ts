import type { MailProgress, MailQueue } from '../outbound/mail.ts';
import { CADENCES } from './subscriber.ts';

/** The kinds of mail to readers: the question that confirms a subscription, and the alerts. */
export const MAIL_KINDS = ['confirm', ...CADENCES] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** A mail in the queue. Its text is made when it is sent. */
export interface QueuedMail {
  /** A lower-case ULID; the Message-ID is made of it. */
  id: string;
  paper: string;
  /** Id of the subscriber. */
  subscriber: string;
  kind: MailKind;
  /** The piece, the day or the week that it is about; empty for `confirm`. */
  about: string;
  /** Not before this time, in ms. */
  due_at: number;
}

/** A queued mail and what became of it. */
export interface MailRecord extends QueuedMail, MailProgress {}

export interface MailTable extends MailQueue<MailRecord> {
  /** False when the reader was mailed about the same before, or a mail that asks to confirm is waiting. */
  queue(mail: QueuedMail): boolean;
  ofSubscriber(subscriber: string): MailRecord[];
}

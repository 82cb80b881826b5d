import type { MailProgress, MailQueue } from '../../shared/outbound/mail.ts';
import { CADENCES } from './subscriber.ts';

/** The kinds of mail to readers: the request to confirm a subscription, and alerts. */
export const MAIL_KINDS = ['confirm', ...CADENCES] as const;
type MailKind = (typeof MAIL_KINDS)[number];

/** A mail in the queue. Its text is composed when it is sent. */
export interface QueuedMail {
  /** A lower-case ULID, from which the Message-ID is derived. */
  id: string;
  paper: string;
  /** Id of the subscriber. */
  subscriber: string;
  kind: MailKind;
  /** The piece, day or week in the mail; empty for `confirm`. */
  about: string;
  /** The earliest time to send it, in ms. */
  due_at: number;
}

/** A queued mail and its outcome. */
export interface MailRecord extends QueuedMail, MailProgress {}

export interface MailTable extends MailQueue<MailRecord> {
  /** Returns false when the reader was already mailed about this, or a request to confirm is waiting. */
  queue(mail: QueuedMail): boolean;
  ofSubscriber(subscriber: string): MailRecord[];
}

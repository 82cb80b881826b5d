/** What a mail is: the question after an order, or one of the alerts. */
export type MailKind = 'confirm' | 'instant' | 'daily' | 'weekly';

/** A mail that is to be sent. Its text is made when it is sent. */
export interface QueuedMail {
  /** A lower-case ULID; the Message-ID is made of it. */
  id: string;
  paper: string;
  /** Id of the subscriber. */
  subscriber: string;
  kind: MailKind;
  /** The piece, the day or the week that it tells of; empty for `confirm`. */
  about: string;
  /** Not before this time, in ms. */
  due_at: number;
}

/** How far a mail has come. */
export interface MailProgress {
  state: 'due' | 'sent' | 'failed';
  attempts: number;
  /** When it was sent or given up, in ms. */
  settled_at: number | null;
  error: string | null;
}

/** A mail that was queued and what became of it. */
export interface MailRecord extends QueuedMail, MailProgress {}

/** What sending needs to know of a mail, whoever it is for. */
export type Sendable = Pick<MailRecord, 'id' | 'attempts'>;

/** A queue of mails, as whoever sends them sees it. */
export interface MailQueue<M extends Sendable> {
  /**
   * Takes mails that are due, for this caller alone until `until` (ms); those
   * that are neither settled nor postponed by then are due again.
   */
  claim(now: number, until: number, limit: number): M[];
  /** Gives back what was claimed by one who is no more; returns how many mails that were. */
  release(now: number): number;
  sent(id: string, at: number): void;
  /** Tries again at `due_at` (ms). */
  postpone(id: string, due_at: number, error: string): void;
  fail(id: string, at: number, error: string): void;
}

export interface MailTable extends MailQueue<MailRecord> {
  /** False when the reader was told of the same before, or a mail that asks to confirm is waiting. */
  queue(mail: QueuedMail): boolean;
  ofSubscriber(subscriber: string): MailRecord[];
}

/** A mail ready to be sent. */
export interface Mail {
  from: { name: string; address: string };
  to: string;
  /** Where answers go, when that is not `from`. */
  replyTo?: string;
  subject: string;
  text: string;
  html?: string;
  /** The same however often it is sent: a reader's mail program shows it once. */
  messageId: string;
  headers: Record<string, string>;
}

/** Sends mails. Throws when one was not taken. */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

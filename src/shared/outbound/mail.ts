/** The progress of a queued mail. */
export interface MailProgress {
  state: 'due' | 'sent' | 'failed';
  attempts: number;
  /** When it was sent or given up, in ms. */
  settled_at: number | null;
  error: string | null;
}

/** The members of a queued mail that the sender needs. */
export interface MailJob {
  /** A lower-case ULID, from which the Message-ID is derived. */
  id: string;
  /** The number of attempts, including this one. */
  attempts: number;
}

/** A queue of mails. Times in ms. */
export interface MailQueue<M extends MailJob> {
  /** Leases due mails until `until`. Those neither settled nor postponed by then are due again. */
  lease(now: number, until: number, limit: number): M[];
  /** Returns every leased mail to the queue after a process died; returns how many there were. */
  release(now: number): number;
  sent(id: string, at: number): void;
  /** Retries at `due_at`. */
  postpone(id: string, due_at: number, error: string): void;
  fail(id: string, at: number, error: string): void;
}

/** A mail ready to be sent. */
export interface Mail {
  from: { name: string; address: string };
  to: string;
  /** The address for replies, if it is not `from`. */
  replyTo?: string;
  subject: string;
  text: string;
  html?: string;
  /** The same on every attempt, so that a mail client shows duplicates once. */
  messageId: string;
  headers: Record<string, string>;
}

/** Sends mails. Throws when a mail was not accepted. */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

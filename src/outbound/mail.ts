/** How far a queued mail has come. */
export interface MailProgress {
  state: 'due' | 'sent' | 'failed';
  attempts: number;
  /** When it was sent or given up, in ms. */
  settled_at: number | null;
  error: string | null;
}

/** What the sender knows of a queued mail, whatever the mail says. */
export interface MailJob {
  /** A lower-case ULID; the Message-ID is made of it. */
  id: string;
  /** How often it was tried, this time included. */
  attempts: number;
}

/** A queue of mails. Times in ms. */
export interface MailQueue<M extends MailJob> {
  /** Claims mails that are due, for this caller alone until `until`; those neither settled nor postponed by then are due again. */
  claim(now: number, until: number, limit: number): M[];
  /** Returns every claimed mail to the queue, after a process died; returns how many there were. */
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
  /** Where replies go, when that is not `from`. */
  replyTo?: string;
  subject: string;
  text: string;
  html?: string;
  /** The same on every attempt, so that a mail program shows a mail that was sent twice once. */
  messageId: string;
  headers: Record<string, string>;
}

/** Sends mails. Throws when a mail was not accepted. */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

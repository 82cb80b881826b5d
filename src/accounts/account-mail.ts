import type { MailProgress, MailQueue } from '../outbound/mail.ts';

/** The kinds of mail to accounts: a link to sign in, changes as they come, and those of a day. */
export const ACCOUNT_MAIL_KINDS = ['sign-in', 'changes', 'digest'] as const;
export type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** A mail in the queue. Its text is made when it is sent. */
export interface AccountMail {
  /** A lower-case ULID; the Message-ID is made of it. */
  id: string;
  /** Null for a mail to sign in: there may be no account yet. */
  account: string | null;
  email: string;
  kind: AccountMailKind;
  /** Not before this time, in ms. */
  due_at: number;
}

/** A queued mail and what became of it. */
export interface AccountMailRecord extends AccountMail, MailProgress {}

export interface AccountMailTable extends MailQueue<AccountMailRecord> {
  queue(mail: AccountMail): void;
  /** Those of an account, oldest first. */
  ofAccount(account: string): AccountMailRecord[];
  /** Deletes every mail to an address. */
  dropEmail(email: string): void;
  /** Deletes what was settled at or before a time; mails to sign in, at or before another. */
  forget(until: number, signInsUntil: number): void;
}

import type { MailProgress, MailQueue } from '../outbound/mail.ts';

/** The kinds of mail to accounts: a sign-in link, changes as they happen, and a daily digest of changes. */
export const ACCOUNT_MAIL_KINDS = ['sign-in', 'changes', 'digest'] as const;
export type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** A mail in the queue. Its text is composed when it is sent. */
export interface AccountMail {
  /** A lower-case ULID, from which the Message-ID is derived. */
  id: string;
  /** Null for sign-in mails: the account may not exist yet. */
  account: string | null;
  email: string;
  kind: AccountMailKind;
  /** The earliest time to send it, in ms. */
  due_at: number;
}

/** A queued mail and its outcome. */
export interface AccountMailRecord extends AccountMail, MailProgress {}

export interface AccountMailTable extends MailQueue<AccountMailRecord> {
  queue(mail: AccountMail): void;
  /** An account's mails, oldest first. */
  ofAccount(account: string): AccountMailRecord[];
  /** Deletes every mail to an address. */
  dropEmail(email: string): void;
  /** Deletes mails that were settled at or before a time; sign-in mails at or before another. */
  forget(until: number, signInsUntil: number): void;
}

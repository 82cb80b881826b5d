/** What a mail of the domain records is: a link to sign in, changes as they come, or those of a day. */
export type AccountMailKind = 'sign-in' | 'changes' | 'digest';

/** A mail that is to be sent. Its text is made when it is sent. */
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

/** A mail that was queued and what became of it. */
export interface AccountMailRecord extends AccountMail {
  state: 'due' | 'sent' | 'failed';
  attempts: number;
  /** When it was sent or given up, in ms. */
  settled_at: number | null;
  error: string | null;
}

export interface AccountMailTable {
  queue(mail: AccountMail): void;
  /** As the readers' queue has it: for this caller alone until `until` (ms). */
  claim(now: number, until: number, limit: number): AccountMailRecord[];
  release(now: number): number;
  sent(id: string, at: number): void;
  postpone(id: string, due_at: number, error: string): void;
  fail(id: string, at: number, error: string): void;
  /** Those of an account, oldest first. */
  ofAccount(account: string): AccountMailRecord[];
  /** Drops every mail to an address. */
  dropEmail(email: string): void;
  /** Drops what was settled at or before a time; what was for signing in, at or before another. */
  forget(until: number, signInsUntil: number): void;
}

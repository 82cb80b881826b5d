import type { MailTable } from './mail.ts';
import type { SubscriberTable } from './subscriber.ts';
import type { AskedMailboxTable, SuppressionTable } from './suppression.ts';
import type { TokenTable } from './token.ts';

/** The tables about readers. */
export interface ReaderTables {
  subscribers: SubscriberTable;
  suppressions: SuppressionTable;
  tokens: TokenTable;
  mails: MailTable;
  askedMailboxes: AskedMailboxTable;
}

/** The part of the store that the rules for readers use. */
export interface ReaderStore {
  readers: ReaderTables;
  /** Runs `work` as one transaction, exclusively among all processes. */
  transact<T>(work: () => T): T;
}

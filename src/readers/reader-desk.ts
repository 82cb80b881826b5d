import type { MailTable } from './mail.ts';
import type { SubscriberTable } from './subscriber.ts';
import type { SuppressionTable } from './suppression.ts';
import type { TokenTable } from './token.ts';

/** What the store keeps of readers. */
export interface ReaderTables {
  subscribers: SubscriberTable;
  suppressions: SuppressionTable;
  tokens: TokenTable;
  mails: MailTable;
}

/** What the rules of readers work with. */
export interface ReaderDesk extends ReaderTables {
  /** Runs `work` as one transaction that nothing else of any process comes between. */
  transact<T>(work: () => T): T;
  /** The present time, in ms. */
  now(): number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
  /** What the tokens of mailed links are made with. */
  readonly secret: Uint8Array;
}

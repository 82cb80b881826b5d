import { type Choices, DEFAULT_CHOICES, type Subscriber } from '../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { PAPER } from './app-context.ts';

/** Inserts a confirmed reader. */
export function confirmedReader(
  { store, clock: { now } }: AppContext,
  email: string,
  choices: Partial<Choices> = {},
  paper = PAPER,
): Subscriber {
  const address = readAddress(email) as Address;
  const row: Subscriber = {
    ...DEFAULT_CHOICES,
    ...choices,
    id: newId(),
    paper,
    reader: readerOf(paper, address),
    email: address.email,
    asked: null,
    made_at: now(),
    ordered_at: now(),
    mailed_at: null,
    confirmed_at: now(),
    last_sent_at: null,
    webhook: null,
    webhook_secret: null,
  };
  store.desk.readers.subscribers.put(row);
  return row;
}

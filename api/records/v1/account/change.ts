import type { Account } from '../../../../src/accounts/account.ts';
import type { AppContext } from '../../../../src/app/context.ts';
import { ANSWER_TTL } from '../../../../src/desk/answers.ts';
import { Fault } from '../../../../src/fault.ts';
import { present } from '../../../../src/narrow.ts';
import type { Outcome } from '../../../middleware/idempotency.ts';
import { readIdempotentWrite, runOnce } from '../../../middleware/idempotency.ts';
import type { Reply } from '../../../responses/reply.ts';
import { reply } from '../../../responses/reply.ts';
import type { RecordsContext } from '../../route.ts';

/** The account of the request’s key. Throws `key_invalid` when it was deleted meanwhile. */
export function accountOf({ store }: Pick<AppContext, 'store'>, c: RecordsContext): Account {
  const account = store.accounts.find(c.get('key')?.account ?? '');
  if (account !== null) return account;
  throw new Fault('key_invalid', 'X-Service-Key: the account of this key was deleted');
}

/**
 * Makes a change for the account of the request’s key, in one transaction, and once for each Idempotency-Key. `isNew`
 * is false where an earlier request made it. `at` is the address of what was created.
 */
export async function changeOnce<Body extends object>(
  { store, now }: Pick<AppContext, 'store' | 'now'>,
  c: RecordsContext,
  work: (account: Account) => Outcome<Body>,
  at?: (body: Body) => string,
): Promise<{ answer: Reply<Body>; body: Body; isNew: boolean }> {
  const named = await readIdempotentWrite(c);
  const time = now();
  const by = { answers: store.serviceAnswers, key: present(c.get('key')).id, at: time };
  let isNew = false;
  const { status, body } = store.transact(() => {
    store.serviceAnswers.deleteUntil(time - ANSWER_TTL);
    return runOnce(by, named, () => {
      isNew = true;
      return work(accountOf({ store }, c));
    });
  });
  const init = status === 201 && at !== undefined ? { status, headers: { Location: at(body) } } : { status };
  return { answer: reply(body, init), body, isNew };
}

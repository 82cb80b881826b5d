import { z } from '@hono/zod-openapi';
import { ANSWER_TTL } from '../../../../src/desk/papers/answers.ts';
import type { Account } from '../../../../src/records/accounts/account.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { Fault } from '../../../../src/shared/fault.ts';
import { readIdempotentWrite, runOnce } from '../../../middleware/idempotency.ts';
import type { RecordsContext } from '../../route.ts';

/** The account of the request’s key. Throws `key_invalid` when it was deleted meanwhile. */
export function accountOf({ store }: AppContext, c: RecordsContext): Account {
  const account = store.records.accounts.find(c.get('key')?.account ?? '');
  if (account !== null) return account;
  throw new Fault('key_invalid', 'X-Service-Key: the account of this key was deleted');
}

/**
 * Makes a change in one transaction, and once for each Idempotency-Key. Returns what `work` returned; `isNew` is false
 * where an earlier request did the work.
 */
export async function changeOnce<Body extends object>(
  { store, clock: { now } }: AppContext,
  c: RecordsContext,
  status: 200 | 201,
  work: () => Body,
): Promise<{ body: Body; isNew: boolean }> {
  const named = await readIdempotentWrite(c);
  const at = now();
  const by = { answers: store.records.serviceAnswers, key: c.get('key')?.id ?? '', at };
  let isNew = false;
  const { body } = store.database.transact(() => {
    store.records.serviceAnswers.deleteUntil(at - ANSWER_TTL);
    return runOnce(by, named, () => {
      isNew = true;
      return { status, body: work() };
    });
  });
  return { body, isNew };
}

export const changed = async <Body extends object>(
  app: AppContext,
  c: RecordsContext,
  work: () => Body,
): Promise<Body> => (await changeOnce(app, c, 200, work)).body;

export const idParam = (what: string) =>
  z.object({
    id: z
      .string()
      .max(64)
      .openapi({ param: { name: 'id', in: 'path' }, description: `The id of the ${what}.` }),
  });

import { z } from '@hono/zod-openapi';
import { ANSWER_TTL } from '../../../../src/desk/papers/answers.ts';
import type { Account } from '../../../../src/records/accounts/account.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { Fault } from '../../../../src/shared/fault.ts';
import { readIdempotentWrite, runOnce } from '../../../middleware/idempotency.ts';
import { IDEMPOTENCY } from '../../../openapi/responses.ts';
import type { OperationSpec } from '../../../openapi/route.ts';
import type { RecordsContext } from '../../route.ts';
import { operation } from '../../route.ts';

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

type Handling<S extends OperationSpec> = Parameters<typeof operation<S>>[1];
type ContextOf<S extends OperationSpec> = Parameters<Handling<S>>[0];
type AnswerOf<S extends OperationSpec> = Awaited<ReturnType<Handling<S>>>;

/** The operations of an account’s own API. Those that change something do it as `changeOnce` does. */
export const accountOperations = (app: AppContext) => ({
  reads: <S extends OperationSpec>(spec: S, read: (account: Account, c: ContextOf<S>) => AnswerOf<S>) =>
    operation({ tags: ['Account'], ...spec } as S, (c) => read(accountOf(app, c), c)),
  changes: <S extends OperationSpec>(spec: S, change: (account: Account, c: ContextOf<S>) => AnswerOf<S> & object) =>
    operation({ tags: ['Account'], ...spec, request: { headers: IDEMPOTENCY, ...spec.request } } as S, async (c) => {
      const { body } = await changeOnce(app, c, 200, () => change(accountOf(app, c), c));
      return body;
    }),
});

export const idParam = (what: string) =>
  z.object({
    id: z
      .string()
      .max(64)
      .openapi({ param: { name: 'id', in: 'path' }, description: `The id of the ${what}.` }),
  });

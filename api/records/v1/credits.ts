import { z } from '@hono/zod-openapi';
import type { Account } from '../../../src/accounts/account.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { ANSWER_TTL } from '../../../src/desk/answers.ts';
import { Fault } from '../../../src/fault.ts';
import { CREDIT_KINDS } from '../../../src/meter/credit-ledger.ts';
import { creditsOf } from '../../../src/meter/credits.ts';
import { amountFrom, appendCredits, creditRow, NOTE_MAX, noteFrom } from '../../../src/meter/top-up.ts';
import { readIdempotentWrite, runOnce } from '../../middleware/idempotency.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../openapi/idempotency.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { reply } from '../../responses/reply.ts';
import { operation } from '../route.ts';

const Credits = z.number().openapi({ description: 'In credits, with at most six decimals.' });

const CreditMoved = z
  .object({
    email: z.string(),
    balance: Credits.openapi({ description: 'The account’s current balance.' }),
    entry: z.object({
      seq: z.int().min(1),
      at: z.iso.datetime(),
      kind: z.enum(CREDIT_KINDS),
      amount: Credits,
      balance: Credits.openapi({
        description: 'The balance after this entry; equal to the outer `balance`.',
      }),
      day: z.iso.date().nullable(),
      note: z.string().nullable(),
    }),
  })
  .openapi('CreditMoved');

const spec = {
  operationId: 'moveCredits',
  tags: ['Operator'],
  summary: 'Top up or correct an account’s credits',
  description:
    'Appends an entry to the account’s ledger. Entries never change. Credits that were drawn earlier are entered first.',
  middleware: [limitBody, jsonBody()],
  request: {
    params: z.object({
      email: z
        .string()
        .max(400)
        .openapi({
          param: { name: 'email', in: 'path' },
          description: 'Email address of the account.',
          example: 'ada@example.org',
        }),
    }),
    headers: IDEMPOTENCY,
    body: body(
      z
        .object({
          amount: z
            .union([z.string(), z.number()])
            .openapi({ description: 'Credits, as a string or a number. A negative amount takes credits away.' }),
          note: z
            .string()
            .optional()
            .openapi({ description: `Reason, at most ${NOTE_MAX} characters.` }),
        })
        .openapi('CreditMove', { example: { amount: '25', note: 'invoice 2026-114' } }),
    ),
  },
  responses: { 201: ok(CreditMoved, 'The new entry.'), ...faults(409, 413, 415, 422) },
};

export const moveCredits = ({ store, now }: Pick<AppContext, 'store' | 'now'>) =>
  operation(spec, async (c) => {
    const { amount, note } = c.req.valid('json');
    const { email } = c.req.valid('param');
    const move = { amount: amountFrom(String(amount), 'amount'), note: noteFrom(note, 'note') };
    const named = await readIdempotentWrite(c);
    const at = now();
    const by = { answers: store.serviceAnswers, key: c.get('key')?.id ?? '', at };
    const { status, body } = store.transact(() => {
      store.serviceAnswers.deleteUntil(at - ANSWER_TTL);
      return runOnce(by, named, () => {
        const account = requireAccount(store.accounts.byEmail(email.trim().toLowerCase()));
        const entry = appendCredits(store.credits, account.id, { ...move, at });
        const balance = creditsOf(store.credits.balance(account.id));
        return { status: 201, body: { email: account.email, balance, entry: creditRow(entry) } };
      });
    });
    return reply(body, { status });
  });

function requireAccount(account: Account | null): Account {
  if (account !== null) return account;
  throw new Fault('not_found', 'no account has this address; its owner creates it by signing in');
}

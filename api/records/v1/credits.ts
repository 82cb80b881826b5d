import { createRoute, z } from '@hono/zod-openapi';
import type { Account } from '../../../src/accounts/account.ts';
import { ANSWER_TTL } from '../../../src/desk/answers.ts';
import { Fault } from '../../../src/fault.ts';
import { CREDIT_KINDS } from '../../../src/meter/credit-ledger.ts';
import { creditsOf } from '../../../src/meter/credits.ts';
import { amountFrom, appendCredits, creditRow, NOTE_MAX, noteFrom } from '../../../src/meter/top-up.ts';
import { namedWrite, once } from '../../middleware/idempotency.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../openapi/idempotency.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

const Credits = z.number().openapi({ description: 'In credits; at most six decimals.' });

const CreditMoved = z
  .object({
    email: z.string(),
    balance: Credits.openapi({ description: 'The account’s credits by now.' }),
    entry: z.object({
      seq: z.int().min(1),
      at: z.iso.datetime(),
      kind: z.enum(CREDIT_KINDS),
      amount: Credits,
      balance: Credits.openapi({
        description: 'The account’s credits after this line: the same as `balance` beside it.',
      }),
      day: z.iso.date().nullable(),
      note: z.string().nullable(),
    }),
  })
  .openapi('CreditMoved');

const route = createRoute({
  method: 'post',
  path: '/v1/accounts/{email}/credits',
  operationId: 'moveCredits',
  tags: ['Operator'],
  summary: 'Top an account’s credits up, or correct them',
  description:
    'Enters a line into the account’s ledger, which nothing changes afterwards; what the account drew before it is entered first.',
  middleware: [limitBody, jsonBody()],
  request: {
    params: z.object({
      email: z
        .string()
        .max(400)
        .openapi({
          param: { name: 'email', in: 'path' },
          description: 'Whose account it is.',
          example: 'ada@example.org',
        }),
    }),
    headers: IDEMPOTENCY,
    body: body(
      z
        .object({
          amount: z
            .union([z.string(), z.number()])
            .openapi({ description: 'Credits, as a text or a number; below nothing takes some away.' }),
          note: z
            .string()
            .optional()
            .openapi({ description: `What for, in at most ${NOTE_MAX} characters.` }),
        })
        .openapi('CreditMove', { example: { amount: '25', note: 'invoice 2026-114' } }),
    ),
  },
  responses: { 201: ok(CreditMoved, 'What was entered.'), ...faults(409, 413, 415, 422) },
});

/** Where an operator tops credits up. */
export function creditsDoor(doors: RecordsDoors): void {
  const { store, now } = doors.app;
  register(doors, 'operator', route, async (c) => {
    const { amount, note } = c.req.valid('json');
    const move = { amount: amountFrom(String(amount), 'amount'), note: noteFrom(note, 'note') };
    const named = await namedWrite(c);
    const at = now();
    const by = { answers: store.serviceAnswers, key: c.get('key')?.id ?? '', at };
    const { status, body } = store.transact(() => {
      store.serviceAnswers.deleteUntil(at - ANSWER_TTL);
      return once(by, named, () => {
        const account = needAccount(store.accounts.byEmail(c.req.valid('param').email.trim().toLowerCase()));
        const entry = appendCredits(store.credits, account.id, { ...move, at });
        const balance = creditsOf(store.credits.balance(account.id));
        return { status: 201, body: { email: account.email, balance, entry: creditRow(entry) } };
      });
    });
    return privateJson(c, body, status);
  });
}

function needAccount(account: Account | null): Account {
  if (account !== null) return account;
  throw new Fault('not_found', 'there is no account of this address; its owner makes it by signing in');
}

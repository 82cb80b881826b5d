import { z } from '@hono/zod-openapi';
import {
  KEY_NAME_MAX,
  KEYS_MAX,
  makeAccountKey,
  SERVICE_LEVELS,
  type ServiceKey,
  serviceKeyRow,
} from '../../../../src/records/accounts/service-key.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { Fault } from '../../../../src/shared/fault.ts';
import { KEY_STATES } from '../../../../src/shared/key-life.ts';

import { body, faults, IDEMPOTENCY, ok } from '../../../openapi/responses.ts';
import { reply } from '../../../responses/reply.ts';
import { listOf, wholeList } from '../../list.ts';
import { operation, type RecordsContext } from '../../route.ts';
import { accountOf, accountOperations, changeOnce, idParam } from './change.ts';

const time = z.iso.datetime().nullable();
const Key = z
  .object({
    id: z.string(),
    level: z.enum(SERVICE_LEVELS),
    name: z.string(),
    state: z.enum(KEY_STATES),
    made_at: z.iso.datetime(),
    made_by: z.string().nullable().describe('`session:…` on the pages, `key:…` over the API, `cli`.'),
    expires_at: time,
    used_at: time,
    uses: z
      .object({ days: z.int(), first_day: z.iso.date().nullable(), last_day: z.iso.date().nullable() })
      .describe('UTC days on which it was used.'),
    revoked_at: time,
    revoked_by: z.string().nullable(),
    is_this: z.boolean().describe('Whether it is the key of this request.'),
  })
  .openapi('AccountKey');
const NewKey = Key.safeExtend({
  key: z.string().describe('The key itself, shown this one time.'),
}).openapi('NewAccountKey');

const KeyBody = z
  .object({
    name: z.string().describe(`One line of 1 to ${KEY_NAME_MAX} characters.`),
    expires_at: z.string().min(1).max(40).optional().describe('A time, or a UTC day (its end). Never without it.'),
  })
  .openapi('AccountKeyBody', { example: { name: 'Laptop', expires_at: '2099-12-31' } });

export function keyOperations(app: AppContext) {
  const { store, settings, clock } = app;
  const { reads, changes } = accountOperations(app);
  const keys = store.records.serviceKeys;
  const ownOf = (c: RecordsContext) => c.get('key')?.id ?? '';
  const rowOf = (c: RecordsContext, key: ServiceKey) => ({
    ...serviceKeyRow(key, keys.hasExpired(key, clock.now())),
    is_this: key.id === ownOf(c),
  });
  return {
    list: reads(
      {
        operationId: 'listAccountKeys',
        summary: 'The account’s keys, also those that ended',
        responses: { 200: ok(listOf('AccountKeyList', Key), 'Oldest first.') },
      },
      (account, c) => wholeList(keys.list(account.id).map((key) => rowOf(c, key))),
    ),
    make: operation(
      {
        tags: ['Account'],
        operationId: 'makeAccountKey',
        summary: 'Make a key; it is shown this one time',
        description: `An account has at most ${KEYS_MAX} in force (409). Sent again under the same Idempotency-Key, no second key is made: the answer is 409 and names the first.`,
        request: { headers: IDEMPOTENCY, body: body(KeyBody) },
        responses: { 201: ok(NewKey, 'The key.'), ...faults(409) },
      },
      async (c) => {
        const { name, expires_at: expires } = c.req.valid('json');
        const maker = { keys, transact: store.database.transact, now: clock.now, by: `key:${ownOf(c)}` };
        let shown: string | null = null;
        const { body: row } = await changeOnce(app, c, 201, () => {
          const { key, made } = makeAccountKey(maker, accountOf(app, c).id, { name, expires });
          shown = key;
          // The response that is stored for retries contains no key.
          return rowOf(c, made);
        });
        if (shown !== null) {
          const headers = { Location: `${settings.dataOrigin}/v1/account/keys/${row.id}` };
          return reply({ ...row, key: shown }, { status: 201, headers });
        }
        const message = `key ${row.id} was made under this Idempotency-Key, and a key is shown once; if it was lost, revoke it and make another`;
        throw new Fault('conflict', message);
      },
    ),
    revoke: changes(
      {
        operationId: 'revokeAccountKey',
        summary: 'Revoke a key, also that of this request',
        request: { params: idParam('key') },
        responses: {
          200: ok(Key, 'The key as it is now. With `is_this`, this was the last answer to it.'),
        },
      },
      (account, c) => {
        const { id } = c.req.valid('param');
        const isRevoked = keys.revoke(id, clock.now(), `key:${ownOf(c)}`, account.id);
        const key = keys.list(account.id).find((one) => one.id === id);
        if (isRevoked && key !== undefined) return rowOf(c, key);
        const message = `your account has no key ${JSON.stringify(id)} in force; GET /v1/account/keys lists them`;
        throw new Fault('not_found', message);
      },
    ),
  };
}

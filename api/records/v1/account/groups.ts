import { z } from '@hono/zod-openapi';
import type { WatchGroup } from '../../../../src/accounts/watching.ts';
import {
  GROUP_NAME_MAX,
  GROUPS_MAX,
  makeGroup,
  renameGroup,
  requireGroup,
  watchedBy,
} from '../../../../src/accounts/watching.ts';
import type { AppContext } from '../../../../src/app/context.ts';
import { newId } from '../../../../src/app/context.ts';
import { isoTime } from '../../../../src/time.ts';
import { jsonBody, limitBody } from '../../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../../openapi/idempotency.ts';
import { body, faults, ok } from '../../../openapi/responses.ts';
import { listOf } from '../../list.ts';
import { operation } from '../../route.ts';
import { accountOf, changeOnce } from './change.ts';

/** Members of answers that say how much room an account has. */
export const ROOM = {
  watched: z.int().min(0).openapi({ description: 'Hostnames in the account’s groups.' }),
  lingering: z.int().min(0).openapi({
    description:
      'Hostnames that it took out and that are still probed. The oldest gives up its place when one is needed.',
  }),
  cap: z.int().min(0).openapi({ description: 'How many the plan has room for.' }),
};

const Group = z
  .object({ id: z.string(), name: z.string(), hosts: z.int().min(0), made_at: z.iso.datetime() })
  .openapi('WatchGroup', { description: 'A group of watched hostnames.' });

const GroupBody = z
  .object({ name: z.string().openapi({ description: `One line of 1 to ${GROUP_NAME_MAX} characters.` }) })
  .openapi('WatchGroupBody', { example: { name: 'Our shops' } });

export const idParam = (what: string) =>
  z.object({
    id: z
      .string()
      .max(64)
      .openapi({ param: { name: 'id', in: 'path' }, description: `The id of the ${what}.` }),
  });

const common = { tags: ['Account'] };
const writes = { ...common, middleware: [limitBody, jsonBody()] };

const listSpec = {
  ...common,
  operationId: 'listGroups',
  summary: 'The account’s groups of watched hostnames',
  responses: { 200: ok(listOf('WatchGroupList', Group, ROOM), 'By name.'), ...faults() },
};
const makeSpec = {
  ...writes,
  operationId: 'makeGroup',
  summary: 'Create a group',
  description: `An account has at most ${GROUPS_MAX}, each with a name of its own (409).`,
  request: { headers: IDEMPOTENCY, body: body(GroupBody) },
  responses: { 201: ok(Group, 'The group.'), ...faults(409, 413, 415, 422) },
};
const renameSpec = {
  ...writes,
  operationId: 'renameGroup',
  summary: 'Rename a group',
  request: { params: idParam('group'), headers: IDEMPOTENCY, body: body(GroupBody) },
  responses: { 200: ok(Group, 'The group as it is now.'), ...faults(409, 413, 415, 422) },
};
const removeSpec = {
  ...common,
  operationId: 'removeGroup',
  summary: 'Remove a group with its alerts',
  description:
    'Hostnames that are in no other group are probed for 30 more days, unless their places are needed sooner.',
  request: { params: idParam('group'), headers: IDEMPOTENCY },
  responses: { 200: ok(Group, 'The group as it was.'), ...faults(422) },
};

/** Groups of watched hostnames over the API, by the rules of the account’s pages. */
export function groupOperations(app: AppContext) {
  const { store, settings, now } = app;
  const { watchGroups } = store;
  const rowOf = ({ id, name, made_at }: WatchGroup) => ({
    ...{ id, name, hosts: watchGroups.hosts(id).length },
    made_at: isoTime(made_at),
  });
  return {
    list: operation(listSpec, (c) => {
      const account = accountOf(app, c);
      const items = watchGroups.list(account.id).map(rowOf);
      const { inGroups: watched, lingering } = watchedBy(store, account.id);
      const cap = settings.watchCaps[account.plan];
      return { watched, lingering, cap, items, total: items.length, next_cursor: null };
    }),
    make: operation(makeSpec, async (c) => {
      const { name } = c.req.valid('json');
      const { answer } = await changeOnce(
        app,
        c,
        ({ id }) => ({ status: 201, body: rowOf(makeGroup(store, id, name, { now: now(), newId })) }),
        ({ id }) => `${settings.dataOrigin}/v1/account/groups/${id}`,
      );
      return answer;
    }),
    show: operation(
      {
        ...common,
        operationId: 'readGroup',
        summary: 'One group',
        request: { params: idParam('group') },
        responses: { 200: ok(Group, 'The group. GET /v1/account/watch lists its hostnames.'), ...faults() },
      },
      (c) => rowOf(requireGroup(watchGroups, accountOf(app, c).id, c.req.valid('param').id)),
    ),
    rename: operation(renameSpec, async (c) => {
      const { name } = c.req.valid('json');
      const { id } = c.req.valid('param');
      const { answer } = await changeOnce(app, c, (account) => ({
        status: 200,
        body: rowOf(renameGroup(store, account.id, id, name)),
      }));
      return answer;
    }),
    remove: operation(removeSpec, async (c) => {
      const { id } = c.req.valid('param');
      const { answer } = await changeOnce(app, c, (account) => {
        const row = rowOf(requireGroup(watchGroups, account.id, id));
        watchGroups.remove(account.id, id, now());
        return { status: 200, body: row };
      });
      return answer;
    }),
  };
}

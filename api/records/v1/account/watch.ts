import { z } from '@hono/zod-openapi';
import type { HostOutcome, WatchGroup } from '../../../../src/accounts/watching.ts';
import {
  addHosts,
  HOST_REFUSALS,
  makeGroup,
  requireGroup,
  takeHost,
  WATCH_LINGERS,
  watchedBy,
} from '../../../../src/accounts/watching.ts';
import type { AppContext } from '../../../../src/app/context.ts';
import { newId } from '../../../../src/app/context.ts';
import { hostReader } from '../../../../src/app/watched-hosts.ts';
import { Fault } from '../../../../src/fault.ts';
import { hostnameOfField } from '../../../../src/records/hostname.ts';
import { isoOrNull, isoTime } from '../../../../src/time.ts';
import { jsonBody, limitBody } from '../../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../../openapi/idempotency.ts';
import { body, faults, ok } from '../../../openapi/responses.ts';
import { listOf } from '../../list.ts';
import { operation } from '../../route.ts';
import { accountOf, changeOnce } from './change.ts';
import { ROOM } from './groups.ts';

/** The group of hostnames that are put under watch without one. */
const GROUP = 'Watched';
/** The most hostnames in one request. */
const NAMES_MAX = 1_000;

const time = z.iso.datetime();
const GroupName = z.object({ id: z.string(), name: z.string() });

const Watched = z
  .object({
    hostname: z.string().openapi({ description: 'In A-labels.' }),
    unicode: z.string(),
    state: z.enum(['watched', 'paused', 'opted_out']),
    groups: z.array(GroupName).openapi({ description: 'The groups that have it; empty for one that lingers.' }),
    added_at: time.nullable(),
    observed_at: time.nullable().openapi({ description: 'Null before the first probe.' }),
    watched_until: time
      .nullable()
      .openapi({ description: 'Of one that was taken out: when the watch ends at the latest.' }),
  })
  .openapi('WatchedHostname');

const listSpec = {
  tags: ['Account'],
  operationId: 'listWatched',
  summary: 'The hostnames that the account has under watch',
  responses: {
    200: ok(listOf('WatchedHostnames', Watched, ROOM), 'Those in groups, then those that linger.'),
    ...faults(),
  },
};

const Outcome = z.object({
  given: z.string(),
  outcome: z.enum(['added', 'already', 'refused']),
  rule: z.enum(HOST_REFUSALS).nullable(),
  reason: z.string().openapi({ description: 'Why it was refused; empty otherwise.' }),
});

const addSpec = {
  tags: ['Account'],
  operationId: 'watchHostnames',
  summary: 'Put hostnames under watch, in a group',
  description: `Each hostname has its own outcome. If all are refused, nothing is done, and the answer is 409, or 400 where none is a hostname. Without \`group\` they go into the group “${GROUP}”, which is created if need be.`,
  middleware: [limitBody, jsonBody()],
  request: {
    headers: IDEMPOTENCY,
    body: body(
      z
        .object({
          hostnames: z.array(z.string().max(1_000)).min(1).max(NAMES_MAX),
          group: z.string().max(64).optional().openapi({ description: 'The id of a group.' }),
        })
        .openapi('WatchBody', { example: { hostnames: ['example.com', 'www.example.com'] } }),
    ),
  },
  responses: {
    201: ok(
      z.object({ group: GroupName, items: z.array(Outcome), ...ROOM }).openapi('WatchResult'),
      'The outcome of each hostname.',
    ),
    ...faults(409, 413, 415, 422),
  },
};

const takeSpec = {
  tags: ['Account'],
  operationId: 'unwatchHostname',
  summary: 'Take a hostname out of the account’s groups',
  description: 'If nobody else has it watched, it is probed for 30 more days, unless its place is needed sooner.',
  request: {
    params: z.object({
      hostname: z.string().openapi({
        param: { name: 'hostname', in: 'path' },
        description: 'The hostname, in Unicode or A-labels.',
        example: 'example.com',
      }),
    }),
    query: z.object({ group: z.string().max(64).optional().openapi({ description: 'Only from this group.' }) }),
    headers: IDEMPOTENCY,
  },
  responses: {
    200: ok(
      z
        .object({ hostname: z.string(), groups: z.array(GroupName), watched_until: time.nullable() })
        .openapi('Unwatched'),
      'The groups that it was taken out of.',
    ),
    ...faults(422),
  },
};

/** Watched hostnames over the API, by the rules of the account’s pages. */
export function watchOperations(app: AppContext) {
  const { store, settings, now } = app;
  const { records, watchGroups } = store;
  const room = ({ id, plan }: { id: string; plan: keyof typeof settings.watchCaps }) => {
    const { inGroups: watched, lingering } = watchedBy(store, id);
    return { watched, lingering, cap: settings.watchCaps[plan] };
  };
  const untilOf = (account: string): Map<string, string> =>
    new Map(
      watchGroups
        .released(account)
        .map(({ hostname, released_at }) => [hostname, isoTime(released_at + WATCH_LINGERS)] as const),
    );
  const groupFor = (account: string, id: string | undefined): WatchGroup => {
    if (id !== undefined) return requireGroup(watchGroups, account, id, 'group');
    const own = watchGroups.list(account).find(({ name }) => name === GROUP);
    return own ?? makeGroup(store, account, GROUP, { now: now(), newId });
  };
  const rowOf = (hostname: string) => {
    const host = records.find(hostname);
    return {
      hostname,
      unicode: host?.unicode ?? hostname,
      state: host?.state ?? 'watched',
      observed_at: isoOrNull(host?.looked_at ?? null),
    };
  };

  return {
    list: operation(listSpec, (c) => {
      const account = accountOf(app, c);
      const held = [...Map.groupBy(watchGroups.held(account.id), ({ hostname }) => hostname)];
      const items = [
        ...held.map(([hostname, rows]) => ({
          ...rowOf(hostname),
          groups: rows.map(({ watch_group: id, group_name: name }) => ({ id, name })),
          added_at: isoTime(Math.min(...rows.map(({ added_at }) => added_at))),
          watched_until: null,
        })),
        ...[...untilOf(account.id)].map(([hostname, watched_until]) => ({
          ...rowOf(hostname),
          ...{ groups: [], added_at: null, watched_until },
        })),
      ];
      return { ...room(account), items, total: items.length, next_cursor: null };
    }),
    add: operation(addSpec, async (c) => {
      const { hostnames, group: id } = c.req.valid('json');
      const { answer } = await changeOnce(app, c, (account) => {
        const group = groupFor(account.id, id);
        const cap = settings.watchCaps[account.plan];
        const items = addHosts(store, group, hostnames, { cap, hosts: hostReader(app), now: now() });
        assertAny(items);
        return { status: 201, body: { group: { id: group.id, name: group.name }, items, ...room(account) } };
      });
      return answer;
    }),
    take: operation(takeSpec, async (c) => {
      const { hostname } = hostnameOfField(c.req.valid('param').hostname, 'hostname');
      const { group } = c.req.valid('query');
      const { answer } = await changeOnce(app, c, ({ id }) => {
        const groups = takeHost(store, id, hostname, { group, now: now() });
        return { status: 200, body: { hostname, groups, watched_until: untilOf(id).get(hostname) ?? null } };
      });
      return answer;
    }),
  };
}

/** Throws if every hostname was refused. */
function assertAny(items: readonly HostOutcome[]): void {
  const [first] = items;
  if (first === undefined || items.some(({ outcome }) => outcome !== 'refused')) return;
  const isNone = items.every(({ rule }) => rule === 'not_a_hostname');
  const problems = items.map(({ rule, reason }, at) => ({
    field: `hostnames[${at}]`,
    rule: rule ?? '',
    message: reason,
  }));
  const more = items.length > 1 ? ` (and ${items.length - 1} more)` : '';
  throw new Fault(isNone ? 'invalid_request' : 'conflict', `hostnames[0]: ${first.reason}${more}; nothing was done`, {
    field: 'hostnames[0]',
    problems: problems.slice(0, 100),
  });
}

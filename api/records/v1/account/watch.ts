import { z } from '@hono/zod-openapi';
import { isoOrNull, isoTime } from '../../../../src/proof/time.ts';
import type { Account } from '../../../../src/records/accounts/account.ts';
import { endFeed, feedPath, makeFeed } from '../../../../src/records/accounts/group-feed.ts';
import {
  addHosts,
  GROUP_NAME_MAX,
  GROUPS_MAX,
  HOST_REFUSALS,
  type HostOutcome,
  makeGroup,
  renameGroup,
  requireGroup,
  takeHost,
  WATCH_LINGERS,
  type WatchGroup,
  watchedBy,
} from '../../../../src/records/accounts/watching.ts';
import { hostnameOfField } from '../../../../src/records/hostname.ts';
import { limitsOf } from '../../../../src/records/plans.ts';
import { hostReader } from '../../../../src/records/require-host.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { Fault } from '../../../../src/shared/fault.ts';
import { newId } from '../../../../src/shared/new-id.ts';

import { body, faults, IDEMPOTENCY, ok } from '../../../openapi/responses.ts';
import { reply } from '../../../responses/reply.ts';
import { listOf, wholeList } from '../../list.ts';
import { operation } from '../../route.ts';
import { accountOf, accountOperations, changeOnce, idParam } from './change.ts';

/** The group of hostnames that are put under watch without one. */
const GROUP = 'Watched';
const NAMES_MAX = 1_000;

const time = z.iso.datetime();
const count = z.int().min(0);
const GroupName = z.object({ id: z.string(), name: z.string() });

const ROOM = {
  watched: count.describe('Hostnames in the account’s groups.'),
  lingering: count.describe(
    'Hostnames that it took out and that are still probed. The oldest gives up its place when one is needed.',
  ),
  cap: count.describe('How many the plan has room for.'),
};

const Group = z
  .object({
    ...{ id: z.string(), name: z.string(), hosts: count, made_at: time },
    feed_url: z
      .url()
      .nullable()
      .describe('Its private feed (RSS), readable by anybody who has the address. Null for none.'),
  })
  .openapi('WatchGroup', { description: 'A group of watched hostnames.' });
const GroupBody = z
  .object({ name: z.string().describe(`One line of 1 to ${GROUP_NAME_MAX} characters.`) })
  .openapi('WatchGroupBody', { example: { name: 'Our shops' } });
const params = idParam('group');

export function groupOperations(app: AppContext, secret: Uint8Array) {
  const { store, settings, clock } = app;
  const { reads, changes } = accountOperations(app);
  const { watchGroups } = store.records;
  const rowOf = ({ id, name, made_at }: WatchGroup) => ({
    ...{ id, name, hosts: watchGroups.hosts(id).length },
    made_at: isoTime(made_at),
    feed_url: feedUrlOf(app, secret, id),
  });
  return {
    list: reads(
      {
        operationId: 'listGroups',
        summary: 'The account’s groups of watched hostnames',
        responses: { 200: ok(listOf('WatchGroupList', Group, ROOM), 'By name.') },
      },
      (account) => ({ ...roomOf(app, account), ...wholeList(watchGroups.list(account.id).map(rowOf)) }),
    ),
    make: operation(
      {
        tags: ['Account'],
        operationId: 'makeGroup',
        summary: 'Create a group',
        description: `An account has at most ${GROUPS_MAX}, each with a name of its own (409).`,
        request: { headers: IDEMPOTENCY, body: body(GroupBody) },
        responses: { 201: ok(Group, 'The group.'), ...faults(409) },
      },
      async (c) => {
        const { body: row } = await changeOnce(app, c, 201, () =>
          rowOf(makeGroup(store.records, accountOf(app, c).id, c.req.valid('json').name, { now: clock.now(), newId })),
        );
        const headers = { Location: `${settings.dataOrigin}/v1/account/groups/${row.id}` };
        return reply(row, { status: 201, headers });
      },
    ),
    show: reads(
      {
        operationId: 'readGroup',
        summary: 'One group',
        request: { params },
        responses: { 200: ok(Group, 'The group. GET /v1/account/watch lists its hostnames.') },
      },
      ({ id }, c) => rowOf(requireGroup(watchGroups, id, c.req.valid('param').id)),
    ),
    rename: changes(
      {
        operationId: 'renameGroup',
        summary: 'Rename a group',
        request: { params, body: body(GroupBody) },
        responses: { 200: ok(Group, 'The group as it is now.'), ...faults(409) },
      },
      ({ id }, c) => rowOf(renameGroup(store.records, id, c.req.valid('param').id, c.req.valid('json').name)),
    ),
    makeFeed: changes(
      {
        operationId: 'makeGroupFeed',
        summary: 'Give a group a private feed (RSS) of its changes',
        description:
          'Nobody can guess its address, and anybody who has it may read the feed, without a key. A group that has a feed gets another address; the old one is 404 from then on.',
        request: { params },
        responses: { 200: ok(Group, 'The group, with the address in `feed_url`.') },
      },
      ({ id: account }, c) => {
        const { id } = c.req.valid('param');
        makeFeed(store.records, account, id, { now: clock.now(), newId });
        return rowOf(requireGroup(watchGroups, account, id));
      },
    ),
    endFeed: changes(
      {
        operationId: 'endGroupFeed',
        summary: 'End the private feed of a group',
        request: { params },
        responses: { 200: ok(Group, 'The group. Its feed’s address is 404 from now on.') },
      },
      ({ id: account }, c) => {
        const { id } = c.req.valid('param');
        endFeed(store.records, account, id);
        return rowOf(requireGroup(watchGroups, account, id));
      },
    ),
    remove: changes(
      {
        operationId: 'removeGroup',
        summary: 'Remove a group with its alerts',
        description:
          'Hostnames that are in no other group are probed for 30 more days, unless their places are needed sooner.',
        request: { params },
        responses: { 200: ok(Group, 'The group as it was.') },
      },
      ({ id }, c) => {
        const group = requireGroup(watchGroups, id, c.req.valid('param').id);
        const row = rowOf(group);
        watchGroups.remove(group.account, group.id, clock.now());
        return row;
      },
    ),
  };
}

const Watched = z
  .object({
    hostname: z.string().describe('In A-labels.'),
    unicode: z.string(),
    state: z.enum(['watched', 'paused', 'opted_out']),
    groups: z.array(GroupName).describe('The groups that have it; empty for one that lingers.'),
    added_at: time.nullable(),
    observed_at: time.nullable().describe('Null before the first probe.'),
    watched_until: time.nullable().describe('Of one that was taken out: when the watch ends at the latest.'),
  })
  .openapi('WatchedHostname');
const Outcome = z.object({
  given: z.string(),
  outcome: z.enum(['added', 'already', 'refused']),
  rule: z.enum(HOST_REFUSALS).nullable(),
  reason: z.string().describe('Why it was refused; empty otherwise.'),
});
const WatchBody = z
  .object({
    hostnames: z.array(z.string().max(1_000)).min(1).max(NAMES_MAX),
    group: z.string().max(64).optional().describe('The id of a group.'),
  })
  .openapi('WatchBody', { example: { hostnames: ['example.com', 'www.example.com'] } });
const WatchResult = z.object({ group: GroupName, items: z.array(Outcome), ...ROOM }).openapi('WatchResult');
const Unwatched = z
  .object({ hostname: z.string(), groups: z.array(GroupName), watched_until: time.nullable() })
  .openapi('Unwatched');
const hostnameParam = z.object({
  hostname: z.string().openapi({
    param: { name: 'hostname', in: 'path' },
    description: 'The hostname, in Unicode or A-labels.',
    example: 'example.com',
  }),
});

export function watchOperations(app: AppContext) {
  const { store, clock } = app;
  const { reads, changes } = accountOperations(app);
  const { records } = store;
  const { watchGroups } = records;
  const untilOf = (account: string) =>
    new Map(
      watchGroups
        .released(account)
        .map(({ hostname, released_at }) => [hostname, isoTime(released_at + WATCH_LINGERS)] as const),
    );
  const groupFor = (account: string, id: string | undefined): WatchGroup => {
    if (id !== undefined) return requireGroup(watchGroups, account, id, 'group');
    const own = watchGroups.list(account).find(({ name }) => name === GROUP);
    return own ?? makeGroup(store.records, account, GROUP, { now: clock.now(), newId });
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
    list: reads(
      {
        operationId: 'listWatched',
        summary: 'The hostnames that the account has under watch',
        responses: { 200: ok(listOf('WatchedHostnames', Watched, ROOM), 'Those in groups, then those that linger.') },
      },
      (account) => {
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
        return { ...roomOf(app, account), ...wholeList(items) };
      },
    ),
    add: operation(
      {
        tags: ['Account'],
        operationId: 'watchHostnames',
        summary: 'Put hostnames under watch, in a group',
        description: `Each hostname has its own outcome. If all are refused, nothing is done, and the answer is 409, or 400 where none is a hostname. Without \`group\` they go into the group “${GROUP}”, which is created if need be.`,
        request: { headers: IDEMPOTENCY, body: body(WatchBody) },
        responses: { 201: ok(WatchResult, 'The outcome of each hostname.'), ...faults(409) },
      },
      async (c) => {
        const { hostnames, group } = c.req.valid('json');
        const { body: result } = await changeOnce(app, c, 201, () => {
          const account = accountOf(app, c);
          const into = groupFor(account.id, group);
          const cap = limitsOf(app, account).limits.watch;
          const items = addHosts(store.records, into, hostnames, { cap, hosts: hostReader(app), now: clock.now() });
          assertAny(items);
          return { group: { id: into.id, name: into.name }, items, ...roomOf(app, account) };
        });
        return reply(result, { status: 201 });
      },
    ),
    take: changes(
      {
        operationId: 'unwatchHostname',
        summary: 'Take a hostname out of the account’s groups',
        description: 'If nobody else has it watched, it is probed for 30 more days, unless its place is needed sooner.',
        request: {
          params: hostnameParam,
          query: z.object({ group: z.string().max(64).optional().describe('Only from this group.') }),
        },
        responses: { 200: ok(Unwatched, 'The groups that it was taken out of.') },
      },
      ({ id }, c) => {
        const { hostname } = hostnameOfField(c.req.valid('param').hostname, 'hostname');
        const { group } = c.req.valid('query');
        const groups = takeHost(store.records, id, hostname, { group, now: clock.now() });
        return { hostname, groups, watched_until: untilOf(id).get(hostname) ?? null };
      },
    ),
  };
}

/** The address of a group's feed; null for none. */
function feedUrlOf({ store, settings }: AppContext, secret: Uint8Array, group: string): string | null {
  const feed = store.records.groupFeeds.get(group);
  return feed === null ? null : settings.dataOrigin + feedPath(secret, feed);
}

function roomOf(app: AppContext, account: Account) {
  return { ...watchedBy(app.store.records, account.id), cap: limitsOf(app, account).limits.watch };
}

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

import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { HostOutcome, WatchGroup } from '../../../src/accounts/watch-group.ts';
import { addHosts, makeGroup, requireGroup } from '../../../src/accounts/watch-group.ts';
import { newId } from '../../../src/app/context.ts';
import { hostReader } from '../../../src/app/watched-hosts.ts';
import { Fault } from '../../../src/fault.ts';
import { isoOrNull, isoTime } from '../../../src/time.ts';
import type { SignedIn } from '../../env.ts';
import type { RecordsContext } from '../route.ts';
import type { AccountDoors } from './pages.ts';
import { accountForm, accountPage, sendAccountPage } from './pages.ts';
import { problemOf } from './problem.ts';

/** How often over an account may fill its groups in a day. */
const ADDITIONS = 4;
const DAY_SECONDS = 86_400;

/** Groups of watched hostnames: made, filled, emptied, removed. */
export function groupDoors(doors: AccountDoors): void {
  const { app } = doors;
  const { store, settings, now } = app;
  const { records, watchGroups } = store;
  const hosts = hostReader(app);
  const room = ({ account }: SignedIn) => ({
    watched: watchGroups.hostsOf(account.id).length,
    cap: settings.watchCaps[account.plan],
  });

  const list = (c: RecordsContext, signed: SignedIn, problem: string | null = null) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/groups', title: 'Groups', status: problem === null ? 200 : 400 },
      {
        ...room(signed),
        groups: watchGroups
          .list(signed.account.id)
          .map(({ id, name, hosts, made_at }) => ({ id, name, hosts, made_at: isoTime(made_at) })),
        problem,
      },
    );
  const page = (
    c: RecordsContext,
    signed: SignedIn,
    { id, name }: WatchGroup,
    told: { outcomes?: HostOutcome[]; problem?: string } = {},
  ) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/group', title: name, status: told.problem === undefined ? 200 : 400 },
      {
        ...room(signed),
        group: { id, name },
        hosts: watchGroups.hosts(id).map(({ hostname, added_at }) => {
          const host = records.find(hostname);
          return {
            hostname,
            unicode: host?.unicode ?? hostname,
            added_at: isoTime(added_at),
            looked_at: isoOrNull(host?.looked_at ?? null),
            url: `/t/${hostname}`,
          };
        }),
        outcomes: told.outcomes ?? [],
        problem: told.problem ?? null,
      },
    );
  // Taking hostnames out makes room for others; this many come under watch in a day all the same.
  const additions = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: DAY_SECONDS });
  const add = async ({ account }: SignedIn, group: WatchGroup, text: string): Promise<HostOutcome[]> => {
    const before = (await additions.get(account.id))?.consumedPoints ?? 0;
    const most = settings.watchCaps[account.plan] * ADDITIONS;
    if (before >= most) {
      throw new Fault('rate_limited', `${before} hostnames came into your groups within a day; go on tomorrow`);
    }
    const outcomes = addHosts(store, group, text, { cap: settings.watchCaps[account.plan], hosts, now: now() });
    const added = outcomes.filter(({ outcome }) => outcome === 'added').length;
    if (added > 0) await additions.penalty(account.id, added);
    return outcomes;
  };
  const named = (c: RecordsContext, { account }: SignedIn) =>
    requireGroup(watchGroups, account.id, c.req.param('id') ?? '');

  accountPage(doors, '/account/groups', (c, signed) => list(c, signed));
  accountForm(doors, '/account/groups', (c, signed, form) => {
    try {
      const { id } = makeGroup(store, signed.account.id, form.text('name'), { now: now(), newId });
      return c.redirect(`/account/groups/${id}`, 303);
    } catch (error) {
      return list(c, signed, problemOf(error));
    }
  });
  accountPage(doors, '/account/groups/:id', (c, signed) => page(c, signed, named(c, signed)));
  accountForm(doors, '/account/groups/:id', async (c, signed, form) => {
    const group = named(c, signed);
    try {
      const outcomes = await add(signed, group, form.text('hostnames'));
      return await page(c, signed, group, { outcomes });
    } catch (error) {
      return page(c, signed, group, { problem: problemOf(error) });
    }
  });
  accountForm(doors, '/account/groups/:id/take', (c, signed, form) => {
    const { id } = named(c, signed);
    watchGroups.take(id, form.text('hostname'));
    return c.redirect(`/account/groups/${id}`, 303);
  });
  accountForm(doors, '/account/groups/:id/remove', (c, { account }) => {
    watchGroups.remove(account.id, c.req.param('id') ?? '');
    return c.redirect('/account/groups', 303);
  });
}

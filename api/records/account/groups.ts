import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import {
  addHosts,
  type HostOutcome,
  hostnamesIn,
  makeGroup,
  requireGroup,
  type WatchGroup,
  watchedBy,
} from '../../../src/records/accounts/watching.ts';
import { hostReader } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { sendAccountPage, signedInForm, signedInPage } from './pages.ts';

export function groupHandlers(app: AppContext, pages: PageSender) {
  const { store, settings, clock } = app;
  const { records } = store;
  const { watchGroups } = records;
  const hosts = hostReader(app);
  const room = ({ account: { id, plan } }: SignedIn) => ({
    ...watchedBy(store.records, id),
    cap: settings.watchCaps[plan],
  });

  const sendList = (c: RecordsContext, signed: SignedIn, problem: string | null = null) =>
    sendAccountPage(pages, c, ['/account/groups', 'Groups', problem === null ? 200 : 400], {
      ...room(signed),
      groups: watchGroups
        .list(signed.account.id)
        .map(({ id, name, hosts, made_at }) => ({ id, name, hosts, made_at: isoTime(made_at) })),
      problem,
    });
  const sendGroup = (
    c: RecordsContext,
    signed: SignedIn,
    { id, name }: WatchGroup,
    result: { outcomes?: HostOutcome[]; problem?: string } = {},
  ) =>
    sendAccountPage(pages, c, ['/account/group', name, result.problem === undefined ? 200 : 400], {
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
      outcomes: result.outcomes ?? [],
      problem: result.problem ?? null,
    });
  const add = ({ account }: SignedIn, group: WatchGroup, text: string): HostOutcome[] =>
    addHosts(store.records, group, hostnamesIn(text), {
      cap: settings.watchCaps[account.plan],
      hosts,
      now: clock.now(),
    });
  const groupOf = (c: RecordsContext, { account }: SignedIn) =>
    requireGroup(watchGroups, account.id, c.req.param('id') ?? '');

  return {
    list: signedInPage((c, signed) => sendList(c, signed)),
    create: signedInForm(settings, (c, signed, form) => {
      try {
        const { id } = makeGroup(store.records, signed.account.id, form.text('name'), { now: clock.now(), newId });
        return c.redirect(`/account/groups/${id}`, 303);
      } catch (error) {
        return sendList(c, signed, problemOf(error));
      }
    }),
    show: signedInPage((c, signed) => sendGroup(c, signed, groupOf(c, signed))),
    add: signedInForm(settings, async (c, signed, form) => {
      const group = groupOf(c, signed);
      try {
        const outcomes = add(signed, group, form.text('hostnames'));
        return await sendGroup(c, signed, group, { outcomes });
      } catch (error) {
        return sendGroup(c, signed, group, { problem: problemOf(error) });
      }
    }),
    take: signedInForm(settings, (c, signed, form) => {
      const group = groupOf(c, signed);
      watchGroups.take(group, form.text('hostname'), clock.now());
      return c.redirect(`/account/groups/${group.id}`, 303);
    }),
    remove: signedInForm(settings, (c, { account }) => {
      watchGroups.remove(account.id, c.req.param('id') ?? '', clock.now());
      return c.redirect('/account/groups', 303);
    }),
  };
}

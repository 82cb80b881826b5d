import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import { answer } from '../../../src/records/accounts/answer.ts';
import { endFeed, feedPath, makeFeed } from '../../../src/records/accounts/group-feed.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import {
  addHosts,
  type GroupMember,
  type HostOutcome,
  hostnamesIn,
  LEFT_ALONE,
  makeGroup,
  renameGroup,
  requireGroup,
  takeHosts,
  type WatchGroup,
  watchedBy,
} from '../../../src/records/accounts/watching.ts';
import { limitsOf } from '../../../src/records/plans.ts';
import { hostReader } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { csvLine } from '../../../src/shared/csv.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { SignedIn } from '../../env.ts';
import { PRIVATE } from '../../responses/send.ts';
import { changeView, signalLabel } from '../pages/change-view.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { answered, problemAt, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const CHANGES = 50;
const COLUMNS = ['hostname', 'unicode', 'added_at', 'observed_at', 'changed_at', 'changed'];

type ListView = Pick<AccountPages['/account/groups'], 'problem' | 'given' | 'answer'>;
type GroupView = Pick<AccountPages['/account/group'], 'outcomes' | 'problem' | 'given' | 'answer'>;

export function groupHandlers(app: AppContext, secret: Uint8Array, pages: PageSender) {
  const { store, settings, clock } = app;
  const { groupFeeds, watchGroups } = store.records;
  const feedUrlOf = (group: string): string | null => {
    const feed = groupFeeds.get(group);
    return feed === null ? null : settings.dataOrigin + feedPath(secret, feed);
  };
  const hosts = hostReader(app);
  const room = ({ account }: SignedIn) => ({
    ...watchedBy(store.records, account.id),
    cap: limitsOf(app, account).limits.watch,
  });

  const sendList = (c: RecordsContext, signed: SignedIn, result: Partial<ListView> = {}) =>
    sendAccountPage(pages, c, ['/account/groups', 'Groups', result.problem == null ? 200 : 400], {
      ...room(signed),
      groups: watchGroups.summaries(signed.account.id).map(({ account: _, made_at, changed_at, ...group }) => ({
        ...group,
        made_at: isoTime(made_at),
        changed_at: isoOrNull(changed_at),
      })),
      problem: null,
      given: { name: '', hostnames: '' },
      ...result,
    });
  const sendGroup = (c: RecordsContext, signed: SignedIn, { id, name }: WatchGroup, result: Partial<GroupView> = {}) =>
    sendAccountPage(pages, c, ['/account/group', name, result.problem == null ? 200 : 400], {
      ...room(signed),
      group: { id, name },
      feed_url: feedUrlOf(id),
      alerts: watchGroups.summaries(signed.account.id).find((group) => group.id === id)?.alerts ?? 0,
      hosts: watchGroups.members(id).map(memberRow),
      outcomes: [],
      problem: null,
      given: { name, hostnames: '' },
      ...result,
    });
  /** Shows the outcome of each hostname, keeps what was refused in the form, and offers to take out what was put in. */
  const sendAdded = (c: RecordsContext, signed: SignedIn, group: WatchGroup, outcomes: HostOutcome[]) => {
    const named = (kind: HostOutcome['outcome']) =>
      outcomes.filter(({ outcome }) => outcome === kind).map(({ given }) => given);
    const [added, already, refused] = [named('added'), named('already'), named('refused')];
    const parts = [
      `${added.length} added`,
      ...(already.length > 0 ? [`${already.length} in the group already`] : []),
      ...(refused.length > 0 ? [`${refused.length} refused`] : []),
    ];
    const text = `${parts.join(', ')}. What was added is observed within minutes.`;
    const undo =
      added.length === 0
        ? null
        : {
            action: `/account/groups/${group.id}/take`,
            label: 'Take out what was added',
            fields: { hostnames: added.join('\n') },
          };
    return sendGroup(c, signed, group, {
      outcomes,
      answer: answer(added.length === 0 ? `${parts.join(', ')}.` : text, undo, refused.length === 0 ? 'good' : 'warn'),
      given: { name: group.name, hostnames: refused.join('\n') },
    });
  };
  const add = ({ account }: SignedIn, group: WatchGroup, names: readonly string[]): HostOutcome[] =>
    addHosts(store.records, group, names, { cap: limitsOf(app, account).limits.watch, hosts, now: clock.now() });
  const groupOf = (c: RecordsContext, { account }: SignedIn) =>
    requireGroup(watchGroups, account.id, c.req.param('id') ?? '');

  return {
    list: signedInPage((c, signed) => sendList(c, signed)),
    create: signedInForm(settings, async (c, signed, form) => {
      const given = { name: form.text('name'), hostnames: form.text('hostnames') };
      try {
        const names = hostnamesIn(given.hostnames);
        const group = makeGroup(store.records, signed.account.id, given.name, { now: clock.now(), newId });
        if (names.length > 0) return await sendAdded(c, signed, group, add(signed, group, names));
        const text = `The group “${group.name}” was created. Add hostnames to it below.`;
        const undo = { action: `/account/groups/${group.id}/remove`, label: 'Remove it', fields: {} };
        return answered(c, signed, `/account/groups/${group.id}`, answer(text, undo));
      } catch (error) {
        return sendList(c, signed, { problem: problemAt(error), given });
      }
    }),
    show: signedInPage((c, signed) => sendGroup(c, signed, groupOf(c, signed))),
    add: signedInForm(settings, async (c, signed, form) => {
      const group = groupOf(c, signed);
      const hostnames = form.text('hostnames');
      try {
        return await sendAdded(c, signed, group, add(signed, group, hostnamesIn(hostnames)));
      } catch (error) {
        return sendGroup(c, signed, group, { problem: problemAt(error), given: { name: group.name, hostnames } });
      }
    }),
    take: signedInForm(settings, async (c, signed, form) => {
      const group = groupOf(c, signed);
      // Ticked rows, the button of one row, or the list of hostnames that the last form added.
      const names = [...form.all('hostname'), ...form.all('hostnames').flatMap(hostnamesIn)];
      try {
        const outcomes = takeHosts(store.records, group, names, clock.now());
        const taken = outcomes.filter(({ outcome }) => outcome === 'taken').map(({ given }) => given);
        const many = taken.length === 1 ? `${taken[0]} is` : `${taken.length} hostnames are`;
        const text = `${many} out of the group. A hostname that is in no other group is observed for 30 more days, unless you need its place sooner.`;
        const undo = {
          action: `/account/groups/${group.id}`,
          label: 'Put back',
          fields: { hostnames: taken.join('\n') },
        };
        return await sendGroup(c, signed, group, {
          outcomes: outcomes.length === 1 ? [] : outcomes,
          answer: taken.length === 0 ? answer('Nothing was in the group any more.', null, 'warn') : answer(text, undo),
        });
      } catch (error) {
        return sendGroup(c, signed, group, { problem: problemAt(error) });
      }
    }),
    makeFeed: signedInForm(settings, (c, signed) => {
      const { id } = groupOf(c, signed);
      const isAnother = groupFeeds.get(id) !== null;
      makeFeed(store.records, signed.account.id, id, { now: clock.now(), newId });
      const text = isAnother
        ? 'The feed has a new address; the old one is gone.'
        : 'The group has a feed; its address is below.';
      return answered(c, signed, `/account/groups/${id}`, answer(text));
    }),
    endFeed: signedInForm(settings, (c, signed) => {
      const { id } = groupOf(c, signed);
      if (groupFeeds.get(id) !== null) endFeed(store.records, signed.account.id, id);
      return answered(c, signed, `/account/groups/${id}`, answer('The feed has ended; its address is gone.'));
    }),
    rename: signedInForm(settings, (c, signed, form) => {
      const group = groupOf(c, signed);
      const name = form.text('name');
      try {
        const renamed = renameGroup(store.records, signed.account.id, group.id, name);
        const undo = {
          action: `/account/groups/${group.id}/rename`,
          label: 'Rename it back',
          fields: { name: group.name },
        };
        const said = answer(`The group “${group.name}” is now “${renamed.name}”.`, undo);
        return answered(c, signed, `/account/groups/${group.id}`, said);
      } catch (error) {
        return sendGroup(c, signed, group, { problem: problemAt(error), given: { name, hostnames: '' } });
      }
    }),
    remove: signedInForm(settings, (c, signed) => {
      const { account } = signed;
      const group = watchGroups.get(account.id, c.req.param('id') ?? '');
      if (group === null) return c.redirect('/account/groups', 303);
      const names = watchGroups.hosts(group.id).map(({ hostname }) => hostname);
      watchGroups.remove(account.id, group.id, clock.now());
      const kept = names.length === 0 ? '' : ' Its hostnames are observed for 30 more days.';
      const text = `The group “${group.name}” is removed, with its alerts.${kept} Made again, it has no alerts yet.`;
      const fields = { name: group.name, hostnames: names.join('\n') };
      const undo = { action: '/account/groups', label: 'Make it again', fields };
      return sendList(c, signed, { answer: answer(text, undo) });
    }),
    changes: signedInPage((c, signed) => {
      const group = groupOf(c, signed);
      const given = Number(c.req.query('before'));
      const before = Number.isSafeInteger(given) && given > 0 ? given : Number.MAX_SAFE_INTEGER;
      const changes = watchGroups.changes(signed.account.id, group.id, { before, limit: CHANGES });
      const last = changes.length === CHANGES ? changes.at(-1)?.seq : undefined;
      return sendAccountPage(pages, c, ['/account/group-changes', `Changes of ${group.name}`], {
        group: { id: group.id, name: group.name },
        hosts: watchGroups.hosts(group.id).length,
        changes: changes.map(changeView),
        older_url: last === undefined ? null : `/account/groups/${group.id}/changes?before=${last}`,
      });
    }),
    export: signedInPage((c, signed) => {
      const { id } = groupOf(c, signed);
      const rows = watchGroups.members(id).map(memberRow);
      const lines = rows.map(({ hostname, unicode, added_at, looked_at, changed_at, changed }) =>
        csvLine([hostname, unicode, added_at, looked_at, changed_at, changed]),
      );
      return c.body(csvLine(COLUMNS) + lines.join(''), 200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="group-${id}.csv"`,
        'Cache-Control': PRIVATE,
        'X-Content-Type-Options': 'nosniff',
      });
    }),
  };
}

function memberRow(member: GroupMember): AccountPages['/account/group']['hosts'][number] {
  const { hostname, unicode, state, added_at, looked_at, changed_at, changed_signal } = member;
  return {
    hostname,
    unicode: unicode ?? hostname,
    added_at: isoTime(added_at),
    looked_at: isoOrNull(looked_at),
    changed_at: isoOrNull(changed_at),
    changed: changed_signal === null ? null : signalLabel(changed_signal),
    left_alone: state === 'opted_out' || state === 'paused' ? LEFT_ALONE[state] : null,
    url: `/t/${hostname}`,
  };
}

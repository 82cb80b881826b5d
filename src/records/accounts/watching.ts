import { DAY, dayOf } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import type { Delta } from '../delta.ts';
import { nameFrom } from './service-key.ts';

/** How long a hostname that left its last group is still probed, in ms. */
export const WATCH_LINGERS = 30 * DAY;

/** An account may add this many times its cap of hostnames to its groups per UTC day. */
const ADDITIONS = 4;
/** The most hostnames that are read from one request; an account may have fewer. */
const NAMES_MAX = 1_000;

interface GroupStore {
  watchGroups: WatchGroupTable;
  transact<T>(work: () => T): T;
}

export interface HostReader {
  /**
   * Normalizes a hostname, and says whether its owner or the operator excludes it. Throws `invalid_request`,
   * `other_node`.
   */
  read(text: string): { hostname: string; leftAlone: 'opted_out' | 'paused' | null };
  watch(hostname: string): void;
}

/** Why a hostname was refused, as stable codes. */
export const HOST_REFUSALS = ['not_a_hostname', 'other_node', 'opted_out', 'paused', 'no_room'] as const;

export interface HostOutcome {
  given: string;
  outcome: 'added' | 'already' | 'refused';
  /** Why it was refused, as a code and in words; null and '' for other outcomes. */
  rule: (typeof HOST_REFUSALS)[number] | null;
  reason: string;
}

/** Why a hostname in a group is not observed. */
export const LEFT_ALONE = {
  opted_out: 'its holder has opted out: it is neither probed nor shown',
  paused: 'the operator of this service has paused it',
};

/** The hostnames of a form: separated by spaces, commas or line breaks. */
export function hostnamesIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter((name) => name !== '');
}

/** Counts the hostnames in an account's groups, and those still probed for it after they left their last group. */
export function watchedBy({ watchGroups }: Pick<GroupStore, 'watchGroups'>, account: string) {
  return { watched: watchGroups.hostsOf(account).length, lingering: watchGroups.released(account).length };
}

/**
 * Adds hostnames to a group and starts watching them, up to the account's `cap`. A hostname in two groups counts once.
 * Hostnames that left their last group and are still probed count too, but are dropped to make room, the longest gone
 * first. Throws `invalid_request`, and `rate_limited` after too many additions in a day.
 */
export function addHosts(
  { watchGroups, transact }: GroupStore,
  { id, account }: WatchGroup,
  names: readonly string[],
  { cap, hosts, now }: { cap: number; hosts: HostReader; now: number },
): HostOutcome[] {
  const given = [...new Set(names)];
  if (given.length === 0) {
    throw new Fault('invalid_request', 'hostnames is empty; give one or more, each on a line of its own', {
      field: 'hostnames',
    });
  }
  return transact(() => {
    const today = dayOf(now);
    const before = watchGroups.additions(account, today);
    if (before >= cap * ADDITIONS) {
      throw new Fault('rate_limited', `you added ${before} hostnames to your groups today; add more tomorrow`);
    }
    const inGroups = new Set(watchGroups.hostsOf(account));
    let lingering = watchGroups.released(account).map(({ hostname }) => hostname);
    const outcomes = given.slice(0, NAMES_MAX).map((name): HostOutcome => {
      const refused = (rule: HostOutcome['rule'], reason: string): HostOutcome => ({
        given: name.slice(0, 300),
        outcome: 'refused',
        rule,
        reason,
      });
      let host: ReturnType<HostReader['read']>;
      try {
        host = hosts.read(name);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (error.code === 'other_node') return refused('other_node', error.message);
        if (error.code === 'invalid_request') return refused('not_a_hostname', error.message);
        throw error;
      }
      const { hostname, leftAlone } = host;
      if (leftAlone !== null) return refused(leftAlone, LEFT_ALONE[leftAlone]);
      if (!inGroups.has(hostname) && inGroups.size >= cap) {
        return refused('no_room', `your plan has room for ${cap} hostnames; take one out of its groups first`);
      }
      inGroups.add(hostname);
      lingering = lingering.filter((other) => other !== hostname);
      const tooMany = Math.max(0, inGroups.size + lingering.length - cap);
      for (const other of lingering.splice(0, tooMany)) watchGroups.unwatch(other);
      hosts.watch(hostname);
      const isNew = watchGroups.put(id, hostname, now);
      return { given: name, outcome: isNew ? 'added' : 'already', rule: null, reason: '' };
    });
    const added = outcomes.filter(({ outcome }) => outcome === 'added').length;
    if (added > 0) watchGroups.noteAdditions(account, today, added);
    return outcomes;
  });
}

/** Takes a hostname out of an account's groups, or out of one. Returns those that had it. Throws `not_found`. */
export function takeHost(
  { watchGroups, transact }: GroupStore,
  account: string,
  hostname: string,
  { group, now }: { group: string | undefined; now: number },
): { id: string; name: string }[] {
  return transact(() => {
    if (group !== undefined) requireGroup(watchGroups, account, group, 'group');
    const found = watchGroups
      .held(account)
      .filter((held) => held.hostname === hostname && (group === undefined || held.watch_group === group));
    if (found.length === 0) {
      throw new Fault('not_found', `${hostname} is in no group of your account; GET /v1/account/watch lists what is`);
    }
    for (const { watch_group: id } of found) watchGroups.take({ id, account }, hostname, now);
    return found.map(({ watch_group: id, group_name: name }) => ({ id, name }));
  });
}

/** The outcome of removing a hostname from a group. */
export interface TakenOutcome {
  given: string;
  outcome: 'taken' | 'absent';
}

/**
 * Takes hostnames out of a group, with an outcome for each. `now` is in ms. Throws `invalid_request` for an empty list.
 */
export function takeHosts(
  { watchGroups, transact }: GroupStore,
  group: Pick<WatchGroup, 'id' | 'account'>,
  names: readonly string[],
  now: number,
): TakenOutcome[] {
  const given = [...new Set(names)];
  if (given.length === 0) {
    throw new Fault('invalid_request', 'hostname is empty; select those to remove from the group', {
      field: 'hostname',
    });
  }
  return transact(() =>
    given.slice(0, NAMES_MAX).map((name) => ({
      given: name,
      outcome: watchGroups.take(group, name, now) ? 'taken' : 'absent',
    })),
  );
}

/**
 * Ends the watch of hostnames that left their last group 30 days ago, or whose account was deleted, unless an operator
 * added them. Returns their names.
 */
export function unwatchAbandoned({ watchGroups }: Pick<GroupStore, 'watchGroups'>, now: number): string[] {
  return watchGroups.unwatchAbandoned(now - WATCH_LINGERS);
}

/** A named group of an account's hostnames. Times in ms. */
export interface WatchGroup {
  id: string;
  account: string;
  name: string;
  made_at: number;
}

/** A hostname of a group. Times in ms; null before the first probe or change, and for a hostname that opted out. */
export interface GroupMember {
  hostname: string;
  added_at: number;
  /** Null, like `state`, for a hostname that is not under watch. */
  unicode: string | null;
  state: 'watched' | 'paused' | 'opted_out' | null;
  looked_at: number | null;
  changed_at: number | null;
  changed_signal: Delta['signal'] | null;
}

export interface WatchGroupTable {
  add(group: WatchGroup): void;
  /** False when the account has no such group. */
  rename(account: string, id: string, name: string): boolean;
  /** Removes a group with its alerts, and releases its hostnames. False when the account has no such group. */
  remove(account: string, id: string, at: number): boolean;
  get(account: string, id: string): WatchGroup | null;
  /** Sorted by name, with the number of hostnames in each group. */
  list(account: string): (WatchGroup & { hosts: number })[];
  /** Sorted by name, with each group's number of hostnames and alerts, and the time of its last change. */
  summaries(account: string): (WatchGroup & { hosts: number; alerts: number; changed_at: number | null })[];
  /** Sorted by hostname, with the last observation and change of each. */
  members(group: string): GroupMember[];
  /** Any hostname in the account's groups that was observed and is shown; null if there is none. */
  observedHost(account: string): string | null;
  /** Changes of a group's hostnames (of all groups if null) with a number below `before`, newest first. */
  changes(account: string, group: string | null, page: { before: number; limit: number }): Delta[];
  /** Adds a hostname. False when it is already in the group. */
  put(group: string, hostname: string, at: number): boolean;
  /**
   * Takes a hostname out. It is released if no group of any account has it afterwards. False when it is not in the
   * group.
   */
  take(group: Pick<WatchGroup, 'id' | 'account'>, hostname: string, at: number): boolean;
  hosts(group: string): { hostname: string; added_at: number }[];
  hostsOf(account: string): string[];
  held(account: string): { hostname: string; watch_group: string; group_name: string; added_at: number }[];
  /** Hostnames that left this account's last group and are still watched because of that, oldest first. */
  released(account: string): { hostname: string; released_at: number }[];
  unwatch(hostname: string): void;
  unwatchAbandoned(until: number): string[];
  additions(account: string, day: string): number;
  /** Counts additions, and deletes those of earlier days. */
  noteAdditions(account: string, day: string, count: number): void;
}

/** The most groups per account, and the longest name of a group, in characters. */
export const GROUPS_MAX = 50;
export const GROUP_NAME_MAX = 60;
/** Creates a group. Throws `invalid_request`, `conflict`. */
export function makeGroup(
  { watchGroups, transact }: GroupStore,
  account: string,
  text: string,
  { now, newId }: { now: number; newId(): string },
): WatchGroup {
  const name = nameFrom(text, 'name', GROUP_NAME_MAX);
  return transact(() => {
    const groups = watchGroups.list(account);
    assertFree(groups, name, null);
    if (groups.length >= GROUPS_MAX) {
      throw new Fault('conflict', `the account has ${GROUPS_MAX} groups, which is the maximum; remove one first`);
    }
    const group = { id: newId(), account, name, made_at: now };
    watchGroups.add(group);
    return group;
  });
}

/** A group of an account. Throws `not_found`, naming the field that gave its id, if any. */
export function requireGroup(groups: WatchGroupTable, account: string, id: string, field?: string): WatchGroup {
  const group = groups.get(account, id);
  if (group !== null) return group;
  const details = field === undefined ? {} : { field };
  throw new Fault('not_found', 'your account has no such group; /account/groups lists those that it has', details);
}

/** Gives a group another name. Throws `invalid_request`, `not_found`, `conflict`. */
export function renameGroup(
  { watchGroups, transact }: GroupStore,
  account: string,
  id: string,
  text: string,
): WatchGroup {
  const name = nameFrom(text, 'name', GROUP_NAME_MAX);
  return transact(() => {
    const group = requireGroup(watchGroups, account, id);
    assertFree(watchGroups.list(account), name, id);
    watchGroups.rename(account, id, name);
    return { ...group, name };
  });
}

function assertFree(groups: readonly WatchGroup[], name: string, own: string | null): void {
  if (!groups.some((group) => group.name === name && group.id !== own)) return;
  throw new Fault('conflict', `there is a group ${JSON.stringify(name)} already; give this one another name`, {
    field: 'name',
  });
}

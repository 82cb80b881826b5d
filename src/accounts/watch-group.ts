import { Fault } from '../fault.ts';
import { nameFrom } from './keys.ts';

/** A named group of an account's hostnames. Times in ms. */
export interface WatchGroup {
  /** A lower-case ULID. */
  id: string;
  account: string;
  name: string;
  made_at: number;
}

export interface WatchGroupTable {
  add(group: WatchGroup): void;
  /** Removes a group with its alerts. False when the account has no such group. */
  remove(account: string, id: string): boolean;
  get(account: string, id: string): WatchGroup | null;
  /** By name, with the number of hostnames in each. */
  list(account: string): (WatchGroup & { hosts: number })[];
  /** Adds a hostname. False when it is already in the group. */
  put(group: string, hostname: string, at: number): boolean;
  take(group: string, hostname: string): boolean;
  /** In alphabetical order. */
  hosts(group: string): { hostname: string; added_at: number }[];
  /** Every hostname of an account, without duplicates. */
  hostsOf(account: string): string[];
}

/** The most groups per account, and the longest name of a group, in characters. */
export const GROUPS_MAX = 50;
export const GROUP_NAME_MAX = 60;
/** The most hostnames that are read from one form; an account may have fewer. */
const NAMES_MAX = 1_000;

/** The part of the store that groups use. */
interface GroupStore {
  watchGroups: WatchGroupTable;
  transact<T>(work: () => T): T;
}

/** Parses hostnames and starts watching them. */
export interface HostReader {
  /** Normalizes a hostname, and says whether its holder or the operator excludes it. Throws `invalid_request`. */
  read(text: string): { hostname: string; leftAlone: 'opted_out' | 'paused' | null };
  /** Starts watching a hostname, unless it is watched. */
  watch(hostname: string): void;
}

/** The outcome of one hostname in a form. */
export interface HostOutcome {
  /** As it was entered. */
  given: string;
  outcome: 'added' | 'already' | 'refused';
  /** Why it was rejected; empty otherwise. */
  reason: string;
}

const LEFT_ALONE = {
  opted_out: 'its holder has opted out: it is neither probed nor shown',
  paused: 'the operator of this service has paused it',
};

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
    if (groups.some((group) => group.name === name)) {
      throw new Fault('conflict', `there is a group ${JSON.stringify(name)} already; give this one another name`);
    }
    if (groups.length >= GROUPS_MAX) {
      throw new Fault('conflict', `the account has ${GROUPS_MAX} groups, which is the most; remove one first`);
    }
    const group = { id: newId(), account, name, made_at: now };
    watchGroups.add(group);
    return group;
  });
}

/** A group of an account. Throws `not_found`. */
export function requireGroup(groups: WatchGroupTable, account: string, id: string): WatchGroup {
  const group = groups.get(account, id);
  if (group !== null) return group;
  throw new Fault('not_found', 'your account has no such group; /account/groups lists those that it has');
}

/**
 * Adds hostnames to a group and starts watching them, up to the account's `cap` of hostnames. Returns the outcome of
 * each. A hostname in two groups counts once.
 */
export function addHosts(
  { watchGroups, transact }: GroupStore,
  { id, account }: WatchGroup,
  text: string,
  { cap, hosts, now }: { cap: number; hosts: HostReader; now: number },
): HostOutcome[] {
  const given = [...new Set(text.split(/[\s,;]+/).filter((name) => name !== ''))];
  if (given.length === 0) {
    throw new Fault('invalid_request', 'hostnames is empty; give one or more, each on a line of its own', {
      field: 'hostnames',
    });
  }
  return transact(() => {
    const watched = new Set(watchGroups.hostsOf(account));
    return given.slice(0, NAMES_MAX).map((name): HostOutcome => {
      const refused = (reason: string): HostOutcome => ({ given: name.slice(0, 300), outcome: 'refused', reason });
      let host: ReturnType<HostReader['read']>;
      try {
        host = hosts.read(name);
      } catch (error) {
        if (error instanceof Fault && error.code === 'invalid_request') return refused(error.message);
        throw error;
      }
      const { hostname, leftAlone } = host;
      if (leftAlone !== null) return refused(LEFT_ALONE[leftAlone]);
      if (!watched.has(hostname) && watched.size >= cap) {
        return refused(`your plan has room for ${cap} hostnames; take one out of its groups first`);
      }
      watched.add(hostname);
      hosts.watch(hostname);
      const isNew = watchGroups.put(id, hostname, now);
      return { given: name, outcome: isNew ? 'added' : 'already', reason: '' };
    });
  });
}

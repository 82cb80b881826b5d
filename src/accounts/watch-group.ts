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
  /** False when the account has no such group. */
  rename(account: string, id: string, name: string): boolean;
  /** Removes a group with its alerts; its hostnames are released. False when the account has no such group. */
  remove(account: string, id: string, at: number): boolean;
  get(account: string, id: string): WatchGroup | null;
  /** By name, with the number of hostnames in each. */
  list(account: string): (WatchGroup & { hosts: number })[];
  /** Adds a hostname. False when it is already in the group. */
  put(group: string, hostname: string, at: number): boolean;
  /**
   * Takes a hostname out. If no other group of any account has it, it is released. False when it is not in the group.
   */
  take(group: Pick<WatchGroup, 'id' | 'account'>, hostname: string, at: number): boolean;
  /** In alphabetical order. */
  hosts(group: string): { hostname: string; added_at: number }[];
  /** Every hostname of an account, without duplicates. */
  hostsOf(account: string): string[];
  /** Every hostname of an account with each group that has it, in alphabetical order. */
  held(account: string): { hostname: string; watch_group: string; group_name: string; added_at: number }[];
  /** Hostnames that this account took out of their last group and that are still watched for that, oldest first. */
  released(account: string): { hostname: string; released_at: number }[];
  /** Ends the watch of a released hostname. */
  unwatch(hostname: string): void;
  /** Deletes hostnames released by then, and stops watching those in no group. Returns the names. */
  unwatchAbandoned(until: number): string[];
  /** How many hostnames an account added on a UTC day. */
  additions(account: string, day: string): number;
  /** Counts additions, and deletes those of earlier days. */
  noteAdditions(account: string, day: string, count: number): void;
}

/** The most groups per account, and the longest name of a group, in characters. */
export const GROUPS_MAX = 50;
export const GROUP_NAME_MAX = 60;
/** The part of the store that groups use. */
interface GroupStore {
  watchGroups: WatchGroupTable;
  transact<T>(work: () => T): T;
}

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
      throw new Fault('conflict', `the account has ${GROUPS_MAX} groups, which is the most; remove one first`);
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

import { timingSafeEqual } from 'node:crypto';
import { linkToken } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { requireGroup, type WatchGroup, type WatchGroupTable } from './watching.ts';

/** The private feed of a group. Times in ms. */
export interface GroupFeed {
  /** A lower-case ULID. The feed's address is derived from it, so a feed that is made again has another address. */
  id: string;
  made_at: number;
}

export interface GroupFeedTable {
  get(group: string): GroupFeed | null;
  /** The group of a feed. */
  groupOf(feed: string): WatchGroup | null;
  put(group: string, feed: GroupFeed): void;
  /** False when the group has no feed. */
  remove(group: string): boolean;
}

interface FeedStore {
  groupFeeds: GroupFeedTable;
  watchGroups: WatchGroupTable;
  transact<T>(work: () => T): T;
}

/** The path of a feed. It cannot be guessed: its token is computed with the secret of mailed links. */
export function feedPath(secret: Uint8Array, { id }: GroupFeed): string {
  return `/feeds/${id}/${linkToken(secret, 'feed', id)}.rss`;
}

/** Makes a group's feed. A feed that exists gets a new address. Throws `not_found`. */
export function makeFeed(
  { groupFeeds, watchGroups, transact }: FeedStore,
  account: string,
  group: string,
  { now, newId }: { now: number; newId(): string },
): GroupFeed {
  return transact(() => {
    const { id } = requireGroup(watchGroups, account, group);
    const feed = { id: newId(), made_at: now };
    groupFeeds.put(id, feed);
    return feed;
  });
}

/** Ends a group's feed; its address stops working. Throws `not_found`. */
export function endFeed({ groupFeeds, watchGroups, transact }: FeedStore, account: string, group: string): void {
  transact(() => {
    const { id } = requireGroup(watchGroups, account, group);
    if (!groupFeeds.remove(id)) throw new Fault('not_found', 'this group has no feed; POST makes one');
  });
}

/** The group of a feed's address. Throws `not_found`, also for a feed that was replaced or ended. */
export function groupOfFeed(feeds: GroupFeedTable, secret: Uint8Array, id: string, file: string): WatchGroup {
  const [wanted, given] = [Buffer.from(`${linkToken(secret, 'feed', id)}.rss`), Buffer.from(file)];
  const isRight = wanted.length === given.length && timingSafeEqual(wanted, given);
  const group = isRight ? feeds.groupOf(id) : null;
  if (group !== null) return group;
  throw new Fault('not_found', 'there is no feed at this address; its group may have a new one, or none');
}

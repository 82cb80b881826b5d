import { feedPath, groupOfFeed } from '../../../src/records/accounts/group-feed.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { sendShared } from '../../responses/send.ts';
import { rssOf } from '../pages/changes-feed.ts';
import type { RecordsContext } from '../route.ts';

const ITEMS = 50;

/** The private feed of a group, for feed readers. Its address is the only credential. */
export const groupFeed =
  ({ store, settings }: AppContext, secret: Uint8Array) =>
  (c: RecordsContext): Response => {
    const { groupFeeds, watchGroups } = store.records;
    const { dataOrigin: root } = settings;
    const id = c.req.param('id') ?? '';
    const group = groupOfFeed(groupFeeds, secret, id, c.req.param('file') ?? '');
    const deltas = watchGroups.changes(group.account, group.id, { before: Number.MAX_SAFE_INTEGER, limit: ITEMS });
    const feed = rssOf(root, deltas, {
      title: `Domain Records: ${group.name}`,
      description: `Changes at the hostnames of the group ${group.name}. This address is private.`,
      link: `${root}/account/groups/${group.id}`,
      address: root + feedPath(secret, { id, made_at: 0 }),
    });
    return sendShared(c, representationOf(feed), {
      'Content-Type': 'application/rss+xml; charset=utf-8',
      'Cache-Control': 'private, max-age=0, must-revalidate',
      'X-Robots-Tag': 'noindex',
      'Referrer-Policy': 'no-referrer',
    });
  };

import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { changesState, changeTotal } from '../cache-state.ts';
import type { RecordsContext } from '../context.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { sendPublic } from '../send.ts';
import { ChangeCursor } from '../v1/params.ts';
import { Delta } from '../v1/record-schemas.ts';
import { ARCHIVE_ITEMS, archiveIn, archivesOf, rssOf, spanOf } from './changes-rss.ts';

/** Changes in the feed as JSON. */
const FEED_ITEMS = 100;
const spec = {
  operationId: 'readChangeFeed',
  tags: ['Public'],
  summary: 'The latest changes of all watched hostnames',
  request: { query: z.object({ limit: limitParam(FEED_ITEMS, 1_000), cursor: cursorParam }) },
  responses: { 200: ok(listOf('ChangeFeed', Delta), 'Newest first.'), ...faults() },
};

/** The latest changes as feeds: JSON and RSS. */
export function changeFeeds({ store: { records }, settings }: Pick<AppContext, 'store' | 'settings'>) {
  const { dataOrigin } = settings;
  const cache = new ResponseCache();
  const total = changeTotal(records);
  return {
    json: operation(spec, (c) => {
      const { limit, cursor } = c.req.valid('query');
      const [before] = readCursor(ChangeCursor, cursor);
      return cache.load(`json ${limit} ${before ?? ''}`, changesState(records), () => {
        const found = records.deltas({}, { limit: limit + 1, cursor: before });
        const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
        return {
          text: JSON.stringify({ items: rows.map(deltaRow), total: total(), next_cursor: next }),
          link: nextLink(`${dataOrigin}/changes.json`, { limit }, next),
        };
      });
    }),
    rss: async (c: RecordsContext) => {
      const newest = records.newestDelta();
      const archive = archiveIn(c, newest);
      const feed = await cache.load(`rss ${archive ?? ''}`, changesState(records), () => {
        const span = spanOf(newest, archive);
        const shown = records
          .deltas({}, { order: 'oldest', cursor: span.after, limit: 2 * ARCHIVE_ITEMS })
          .filter(({ seq }) => seq <= span.to);
        return rssOf(dataOrigin, shown.reverse(), { archive, archives: archivesOf(newest) });
      });
      return sendPublic(c, feed, { 'Content-Type': 'application/rss+xml; charset=utf-8' });
    },
  };
}

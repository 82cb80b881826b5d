import { z } from '@hono/zod-openapi';
import { Feed } from 'feed';
import type { AppContext } from '../../../src/app/context.ts';
import { cleanText, escapeText } from '../../../src/press/feeds/xml.ts';
import { changeLine } from '../../../src/records/change-line.ts';
import type { Delta as StoredDelta } from '../../../src/records/delta.ts';
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
import { changeView } from './change-view.ts';

/** Changes in the feed. */
const FEED_ITEMS = 100;
/** How long feed readers may cache the feed, in minutes. */
const TTL_MINUTES = 15;

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
      const feed = await cache.load('rss', changesState(records), () =>
        rssOf(dataOrigin, records.deltas({}, { limit: FEED_ITEMS })),
      );
      return sendPublic(c, feed, { 'Content-Type': 'application/rss+xml; charset=utf-8' });
    },
  };
}

/**
 * RSS 2.0 of changes, newest first. Its date is that of the latest change, so that the same changes give the same
 * bytes.
 */
function rssOf(root: string, deltas: StoredDelta[]): string {
  const newest = deltas[0];
  const feed = new Feed({
    title: 'Domain Records: changes',
    link: `${root}/changes/today`,
    description:
      'Changes in the DNS records and certificates of watched hostnames. Every change is part of a signed observation.',
    language: 'en',
    updated: new Date(newest?.at ?? 0),
    feed: `${root}/changes.rss`,
    docs: 'https://www.rssboard.org/rss-specification',
    generator: 'Broadsheet',
    ttl: TTL_MINUTES,
  });
  for (const delta of deltas) {
    feed.addItem({
      title: '',
      link: `${root}/t/${delta.domain}`,
      guid: String(delta.seq),
      date: new Date(delta.at),
      category: [{ name: delta.signal }],
      // Replaces the CDATA that the library would write, which a value with `]]>` would end.
      extensions: [
        { name: 'title', objects: { _text: xmlText(changeLine(delta)) } },
        { name: 'description', objects: { _text: xmlText(describe(delta)) } },
      ],
    });
  }
  const xml = feed.rss2();
  return `${newest === undefined ? xml.replace(/\s*<lastBuildDate>[^<]*<\/lastBuildDate>/, '') : xml}\n`;
}

/** Lost and gained values as HTML, one per line. */
function describe(delta: StoredDelta): string {
  const { lost, gained, more_lost, more_gained } = changeView(delta);
  const more = (count: number) => (count === 0 ? [] : [`… and ${count} more`]);
  return [
    ...lost.map((value) => `− ${value}`),
    ...more(more_lost),
    ...gained.map((value) => `+ ${value}`),
    ...more(more_gained),
    `Observation ${delta.observation_seq}.`,
  ]
    .map(escapeText)
    .join('<br>');
}

/** Escapes what feed 6 does not: it assumes that `&amp;` in a text is already escaped. */
function xmlText(value: string): string {
  return cleanText(value).replaceAll('&', '&amp;');
}

import { createRoute, z } from '@hono/zod-openapi';
import { Feed } from 'feed';
import { cleanText, escapeText } from '../../../src/press/feeds/xml.ts';
import { changeLine } from '../../../src/records/change-line.ts';
import type { Delta as StoredDelta } from '../../../src/records/delta.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { listOf } from '../answers.ts';
import { sendMade } from '../public-answer.ts';
import { changesState, changeTotal } from '../public-state.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { Delta } from '../v1/record-schemas.ts';
import { changeView } from './change-view.ts';
import { openPage } from './page.ts';

/** Changes in the feed. */
const FEED_ITEMS = 100;
/** How long a reader may keep the feed before it asks again, in minutes. */
const TTL_MINUTES = 15;

const route = createRoute({
  method: 'get',
  path: '/changes.json',
  operationId: 'readChangeFeed',
  tags: ['Public'],
  summary: 'The newest changes of all watched hostnames',
  security: [{}],
  request: { query: z.object({ limit: limitParam(FEED_ITEMS, 1_000), cursor: cursorParam }) },
  responses: { 200: ok(listOf('ChangeFeed', Delta), 'Newest first.'), ...faults() },
});

/** The changes as feeds: JSON and RSS. */
export function changesFeed(doors: RecordsDoors): void {
  const { store, settings } = doors.app;
  const { records } = store;
  const kept = new ResponseCache();
  const total = changeTotal(records);

  register(doors, 'public', route, async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const [place] = readCursor(z.tuple([z.int().min(0)]), cursor);
    const made = await kept.load(`json ${limit} ${place ?? ''}`, changesState(records), () => {
      const found = records.deltas({}, { limit: limit + 1, cursor: place });
      const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
      return {
        text: JSON.stringify({ items: rows.map(deltaRow), total: total(), next_cursor: next }),
        link: nextLink(`${settings.dataOrigin}/changes.json`, { limit }, next),
      };
    });
    return sendMade(c, made, { 'Content-Type': 'application/json' });
  });

  openPage(doors, '/changes.rss', async (c) => {
    const made = await kept.load('rss', changesState(records), () =>
      rssOf(settings.dataOrigin, records.deltas({}, { limit: FEED_ITEMS })),
    );
    return sendMade(c, made, { 'Content-Type': 'application/rss+xml; charset=utf-8' });
  });
}

/** RSS 2.0 of changes, newest first. It says nothing about when it was written: its time is that of the newest change. */
function rssOf(root: string, deltas: StoredDelta[]): string {
  const newest = deltas[0];
  const feed = new Feed({
    title: 'Domain Records: changes',
    link: `${root}/changes/today`,
    description:
      'What changed in the DNS records and certificates of watched hostnames. Every change stands in a signed observation.',
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
      // In the place of the CDATA that the library would make, which a value with `]]>` would end.
      extensions: [
        { name: 'title', objects: { _text: xmlText(changeLine(delta)) } },
        { name: 'description', objects: { _text: xmlText(describe(delta)) } },
      ],
    });
  }
  const xml = feed.rss2();
  return `${newest === undefined ? xml.replace(/\s*<lastBuildDate>[^<]*<\/lastBuildDate>/, '') : xml}\n`;
}

/** What went and what came as HTML, each value on a line of its own. */
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

/** A text so that feed 6 writes it whole: it takes `&amp;` in a text for an ampersand that was escaped before. */
function xmlText(value: string): string {
  return cleanText(value).replaceAll('&', '&amp;');
}

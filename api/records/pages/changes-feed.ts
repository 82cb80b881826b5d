import { z } from '@hono/zod-openapi';
import { Feed } from 'feed';
import { cleanText, escapeText } from '../../../src/desk/press/feeds/xml.ts';
import { dayOf } from '../../../src/proof/time.ts';
import type { Delta } from '../../../src/records/delta.ts';
import { changeLine, deltaRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { listOf } from '../list.ts';
import { operation, type RecordsContext } from '../route.ts';
import { changesState, changeTotal, sendPublic } from '../send.ts';
import { ChangeCursor } from '../v1/params.ts';
import { Delta as DeltaSchema } from '../v1/record-schemas.ts';
import { changeView } from './change-view.ts';

const FEED_ITEMS = 100;
const spec = {
  operationId: 'readChangeFeed',
  tags: ['Public'],
  summary: 'The latest changes of all watched hostnames',
  request: { query: z.object({ limit: limitParam(FEED_ITEMS, 1_000), cursor: cursorParam }) },
  responses: { 200: ok(listOf('ChangeFeed', DeltaSchema), 'Newest first.') },
};

export function changeFeeds({ store: { records }, settings }: AppContext) {
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
        const address = `${dataOrigin}/changes.rss`;
        const history = historyOf(address, { archive, archives: archivesOf(newest) });
        return rssOf(dataOrigin, shown.reverse(), { ...ABOUT, link: `${dataOrigin}/changes/today`, address, history });
      });
      return sendPublic(c, feed, { 'Content-Type': 'application/rss+xml; charset=utf-8' });
    },
  };
}

/** How long feed readers may cache the feed, in minutes. */
const TTL_MINUTES = 15;

/**
 * Changes in one archive (RFC 5005, section 4): archive 1 holds the changes 1 to 100. Together with the newest
 * document, which holds what follows the last archive, the archives hold every change once.
 */
const ARCHIVE_ITEMS = 100;

/** The number of archives. The newest document has at least as many changes as an archive, once there are enough. */
function archivesOf(newest: number): number {
  return Math.max(0, Math.floor(newest / ARCHIVE_ITEMS) - 1);
}

function spanOf(newest: number, archive: number | null): { after: number; to: number } {
  if (archive === null) return { after: archivesOf(newest) * ARCHIVE_ITEMS, to: newest };
  return { after: (archive - 1) * ARCHIVE_ITEMS, to: archive * ARCHIVE_ITEMS };
}

/** The requested archive; null for the newest document. Throws `invalid_request`, `not_found`. */
function archiveIn(c: RecordsContext, newest: number): number | null {
  const text = c.req.query('archive');
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new Fault('invalid_request', `archive: ${shown} is not a whole number from 1; follow the feed’s links`, {
      field: 'archive',
    });
  }
  const archives = archivesOf(newest);
  if (Number(text) > archives) {
    const message = `there is no archive ${text} yet; there are ${archives}, and /changes.rss has the rest`;
    throw new Fault('not_found', message);
  }
  return Number(text);
}

/** The feed's own links, and whether it is an archive, which changes no more (RFC 5005, sections 3 and 4). */
function historyOf(address: string, { archive, archives }: Part): string[] {
  const of = (number: number) => (number > archives ? address : `${address}?archive=${number}`);
  const link = selfLink;
  const at = archive ?? archives + 1;
  return [
    link('self', of(at)),
    link('current', address),
    link('first', address),
    ...(archives > 0 ? [link('last', of(1))] : []),
    ...(at > 1 ? [link('next', of(at - 1)), link('prev-archive', of(at - 1))] : []),
    ...(at <= archives ? [link('previous', of(at + 1))] : []),
    ...(at < archives ? [link('next-archive', of(at + 1))] : []),
    ...(archive === null ? [] : ['<fh:archive/>']),
  ];
}

function selfLink(rel: string, href: string): string {
  return `<atom:link href="${href}" rel="${rel}" type="application/rss+xml"/>`;
}

/** Which document of the feed this is: an archive by its number, or null for the newest one. */
interface Part {
  archive: number | null;
  archives: number;
}

const ABOUT = {
  title: 'Domain Records: changes',
  description:
    'Changes in the DNS records and certificates of watched hostnames. Every change is part of a signed observation.',
};

interface FeedAbout {
  title: string;
  description: string;
  link: string;
  /** Its own address. */
  address: string;
  /** Links to itself and to its archives, as XML; by default to itself alone. */
  history?: string[];
}

/** RSS 2.0 of changes, newest first. Its date is that of the latest change: the same changes give the same bytes. */
export function rssOf(
  root: string,
  deltas: Delta[],
  { title, description, link, address, history }: FeedAbout,
): string {
  const newest = deltas[0];
  const feed = new Feed({
    title: xmlText(title),
    link,
    description: xmlText(description),
    language: 'en',
    updated: new Date(newest?.at ?? 0),
    feed: address,
    docs: 'https://www.rssboard.org/rss-specification',
    generator: 'Broadsheet',
    ttl: TTL_MINUTES,
  });
  for (const delta of deltas) {
    feed.addItem({
      title: '',
      link: `${root}/t/${delta.domain}`,
      guid: `${root}/changes/${dayOf(delta.at)}#change-${delta.seq}`,
      date: new Date(delta.at),
      category: [{ name: delta.signal }],
      // Replaces the CDATA that the library would write, which a value with `]]>` would end.
      extensions: [
        { name: 'title', objects: { _text: xmlText(changeLine(delta)) } },
        { name: 'description', objects: { _text: xmlText(describe(delta)) } },
      ],
    });
  }
  const xml = feed
    .rss2()
    .replace(/<rss [^>]*(?=>)/, '$& xmlns:fh="http://purl.org/syndication/history/1.0"')
    .replace(/(\s{0,40})<atom:link [^<>]{0,1000}rel="self"[^<>]{0,1000}>/, (_, indent: string) =>
      (history ?? [selfLink('self', address)]).map((element) => indent + element).join(''),
    );
  return `${newest === undefined ? xml.replace(/\s*<lastBuildDate>[^<]*<\/lastBuildDate>/, '') : xml}\n`;
}

function describe(delta: Delta): string {
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

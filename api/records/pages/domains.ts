import * as z from 'zod';
import type { AppContext } from '../../../src/server/context.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { COUNT_MAX } from '../v1/domains.ts';
import { csvLink, linksToLists } from './facets.ts';
import { type ListPart, type RequestedPart, requestedPart, sendHosts } from './list.ts';
import type { PageSender } from './page.ts';

const NameCursor = z.tuple([z.string()]);
const IdCursor = z.tuple([z.int().min(0)]);
/** The longest query, in characters: the longest hostname. */
const QUERY_MAX = 253;

export const domainsPage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache();
  return (c: RecordsContext) => {
    const wanted = requestedPart(c);
    const q = (c.req.query('q') ?? '').trim().slice(0, QUERY_MAX);
    const ways = [...linksToLists(), ...(wanted.isWhole ? [csvLink('/domains')] : [])];
    if (q === '') {
      return sendHosts(app, pages, c, cache, {
        path: '/domains',
        title: 'Catalog',
        heading: 'Catalog',
        lede: 'Every hostname under watch, by name. Each is looked up at least once a day, and every observation is signed.',
        ways,
        part: () => everyHost(records, wanted),
      });
    }
    return sendHosts(app, pages, c, cache, {
      path: '/domains',
      query: `?q=${encodeURIComponent(q)}`,
      title: 'Catalog',
      heading: 'Found in the catalog',
      lede: `Hostnames in which each word of “${q}” is the start of a label, in the order in which they were added.`,
      ways,
      countMax: COUNT_MAX,
      part: () => matchingHosts(records, wanted, q),
    });
  };
};

type Records = AppContext['store']['records'];

function everyHost(records: Records, { limit, cursor }: RequestedPart): ListPart<WatchedHost> {
  const [after = ''] = readCursor(NameCursor, cursor);
  const { watched, paused } = records.counts();
  const found = records.list(after, limit + 1);
  return { ...pageOf(found, limit, ({ hostname }) => cursorOf([hostname])), total: watched + paused };
}

function matchingHosts(records: Records, { limit, cursor }: RequestedPart, q: string): ListPart<WatchedHost> {
  const [after] = readCursor(IdCursor, cursor);
  const found = records.search(q, limit + 1, after);
  return { ...pageOf(found, limit, ({ id }) => cursorOf([id])), total: records.searchCount(q, COUNT_MAX) };
}

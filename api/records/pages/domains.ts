import * as z from 'zod';
import type { AppContext } from '../../../src/server/context.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { observationsState } from '../send.ts';
import { COUNT_MAX } from '../v1/domains.ts';
import { csvLink, linksToLists } from './facets.ts';
import { hostRow, type ListPart, listEnd, type RequestedPart, requestedPart, sendListJson } from './list.ts';
import { type PageSender, wantsPage } from './page.ts';

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
    const part = () => (q === '' ? everyHost(records, wanted) : matchingHosts(records, wanted, q));
    const address = q === '' ? '/domains' : `/domains?q=${encodeURIComponent(q)}`;
    if (!wantsPage(c)) {
      return sendListJson(app, c, { cache, name: address }, () => {
        const { rows, ...rest } = part();
        return { ...rest, rows: rows.map(({ url: _, ...row }) => row) };
      });
    }
    const lede =
      q === ''
        ? 'Every watched hostname, by name. Each is probed again and again, and every observation is signed.'
        : `Hostnames in which each word of “${q}” is the start of a label, in the order in which they were added.`;
    const title = 'Catalog · Domain Records';
    const frame = pages.frame(c, { title, description: lede, path: '/domains', noindex: q !== '' });
    const view = () => {
      const found = part();
      const end = listEnd(app.settings, found, wanted.isWhole, address);
      const ways = [...(wanted.isWhole ? [csvLink('/domains')] : []), ...linksToLists()];
      const heading = q === '' ? 'Catalog' : 'Found in the catalog';
      const at_least = q !== '' && end.total >= COUNT_MAX;
      return { frame, heading, lede, ways, rows: found.rows, end, at_least };
    };
    const state = observationsState(records);
    return pages.sendCached(c, '/records/hosts', { frame, view }, { cache, name: address, state });
  };
};

type Records = AppContext['store']['records'];
type HostPart = ListPart<ReturnType<typeof hostRow>>;

function everyHost(records: Records, { limit, cursor }: RequestedPart): HostPart {
  const [after = ''] = readCursor(NameCursor, cursor);
  const { watched, paused } = records.counts();
  const found = records.list(after, limit + 1);
  return partOf(found, limit, ({ hostname }) => cursorOf([hostname]), watched + paused);
}

function matchingHosts(records: Records, { limit, cursor }: RequestedPart, q: string): HostPart {
  const [after] = readCursor(IdCursor, cursor);
  const found = records.search(q, limit + 1, after);
  return partOf(found, limit, ({ id }) => cursorOf([id]), records.searchCount(q, COUNT_MAX));
}

function partOf(found: WatchedHost[], limit: number, cursorAt: (last: WatchedHost) => string, total: number): HostPart {
  const { rows, next } = pageOf(found, limit, cursorAt);
  return { rows: rows.map(hostRow), total, next };
}

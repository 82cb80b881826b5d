import { present } from '../../../src/proof/narrow.ts';
import { dayOf, isoOrNull } from '../../../src/proof/time.ts';
import type { ListEnd, RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Settings } from '../../../src/server/env.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { signedIn } from '../../middleware/session.ts';
import type { ResponseCache } from '../../responses/response-cache.ts';
import { privateJson } from '../../responses/send.ts';
import { signInUrl } from '../lanes/addresses.ts';
import type { RecordsContext } from '../route.ts';
import { JSON_BESIDE_PAGE, observationsState, sendPublic } from '../send.ts';
import { type PageSender, wantsPage } from './page.ts';
import { hostTrends } from './trends.ts';

/** Rows of every list without an account, beside the total. */
export const PUBLIC_ROWS = 3;
const PAGE_ROWS = 100;

/** A page of a list: its rows, the total of the list, and the cursor of the next page. */
export interface ListPart<Row> {
  rows: Row[];
  total: number;
  next: string | null;
}

export interface RequestedPart {
  limit: number;
  cursor: string | undefined;
  isWhole: boolean;
}

/** The part of a list that this reader sees: the first three rows, or a page from the cursor when signed in. */
export function requestedPart(c: RecordsContext): RequestedPart {
  const isWhole = signedIn(c) !== null;
  return { limit: isWhole ? PAGE_ROWS : PUBLIC_ROWS, cursor: isWhole ? c.req.query('cursor') : undefined, isWhole };
}

/** The end of a list for this reader. `path` is the address of the list; null for one without further pages. */
export function listEnd(
  settings: Settings,
  { rows, total, next }: ListPart<unknown>,
  isWhole: boolean,
  path: string | null,
): ListEnd {
  return {
    total,
    held_back: isWhole ? 0 : total - rows.length,
    sign_in_url: signInUrl(settings),
    next_url:
      isWhole && next !== null && path !== null
        ? `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`
        : null,
  };
}

/** Sends a list as JSON: its first three rows and the total, or a page of it when signed in. */
export async function sendListJson<Row extends object>(
  { store, settings }: AppContext,
  c: RecordsContext,
  { cache, name }: { cache: ResponseCache; name: string },
  part: () => ListPart<Row>,
): Promise<Response> {
  if (signedIn(c) !== null) {
    const { rows: items, total, next: next_cursor } = part();
    return privateJson(c, { items, total, next_cursor });
  }
  const list = await cache.load(`json ${name}`, observationsState(store.records), () => {
    const { rows: items, total } = part();
    return JSON.stringify({ items, total, held_back: total - items.length, sign_in_url: signInUrl(settings) });
  });
  return sendPublic(c, list, JSON_BESIDE_PAGE);
}

/** A list of hostnames as its page shows it. */
interface HostList extends Pick<RecordsPages['/records/hosts'], 'heading' | 'lede' | 'ways'> {
  path: string;
  /** With its question mark. Search engines must not index a list with a query. */
  query?: string;
  title: string;
  /** The number up to which hostnames are counted. */
  countMax?: number;
  /** The name that all of these hostnames have in common; absent for the catalog. */
  named?: () => RecordsPages['/records/hosts']['named'];
  part(): ListPart<WatchedHost>;
}

/** Sends a list of hostnames as a page or as JSON. */
export function sendHosts(
  app: AppContext,
  pages: PageSender,
  c: RecordsContext,
  cache: ResponseCache,
  { path, query = '', title, countMax = Number.POSITIVE_INFINITY, named, part, ...head }: HostList,
): Promise<Response> {
  const address = path + query;
  if (!wantsPage(c)) {
    return sendListJson(app, c, { cache, name: address }, () => {
      const { rows, ...rest } = part();
      return { ...rest, rows: rows.map(catalogRowOf) };
    });
  }
  const isWhole = signedIn(c) !== null;
  const frame = pages.frame(c, {
    title: `${title} · Domain Records`,
    description: head.lede,
    path,
    noindex: query !== '',
  });
  const view = () => {
    const found = part();
    const end = listEnd(app.settings, found, isWhole, address);
    const { records } = app.store;
    const trends = hostTrends(
      records,
      found.rows.map(({ hostname }) => hostname),
      today,
    );
    const rows = found.rows.map((host) => ({
      ...catalogRowOf(host),
      url: `/t/${host.hostname}`,
      ...present(trends.get(host.hostname)),
    }));
    return { frame, ...head, rows, end, at_least: found.total >= countMax, named: named?.() ?? null };
  };
  // Trends end with today.
  const today = dayOf(app.clock.now());
  const state = `${observationsState(app.store.records)}-${today}`;
  return pages.sendCached(c, '/records/hosts', { frame, view }, { cache, name: address, state });
}

function catalogRowOf({ hostname: domain, unicode, state, looked_at, seq }: WatchedHost) {
  return { domain, unicode, state, observed_at: isoOrNull(looked_at), seq };
}

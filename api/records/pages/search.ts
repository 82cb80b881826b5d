import type { AppContext } from '../../../src/app/context.ts';
import type { Found } from '../../../src/records/search.ts';
import { findEverywhere } from '../../../src/records/search.ts';
import { dayOf, isoTime, parseSpan } from '../../../src/time.ts';
import { setHeader } from '../../responses/headers.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsContext } from '../context.ts';
import { signInUrl } from '../lanes/addresses.ts';
import { COUNT_MAX } from '../v1/domains.ts';
import { PUBLIC_ROWS, requestedPart } from './list.ts';
import type { PageSender } from './page.ts';
import { wantsPage } from './page.ts';
import type { Search } from './search-groups.ts';
import { groupsOf } from './search-groups.ts';

/** The longest query, in characters: the longest hostname. */
const QUERY_MAX = 253;

/** Searches everything. A date, and the number or hash of an observation, redirect to their page. */
export const searchPage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  return (c: RecordsContext) => {
    const q = (c.req.query('q') ?? '').trim().slice(0, QUERY_MAX);
    const target = q === '' ? null : directTarget(app, q);
    if (target !== null) {
      setHeader(c, 'Cache-Control', 'no-store');
      return c.redirect(target, 303);
    }
    const isSearchable = /[\p{L}\p{N}]/u.test(q);
    const found = isSearchable ? findEverywhere(records, q) : [];
    const total = isSearchable ? records.searchCount(q, COUNT_MAX) : 0;
    const search = { q, total, isWhole: requestedPart(c).isWhole, sign_in_url: signInUrl(app.settings) };
    if (!wantsPage(c)) return searchJson(c, found, search);
    const frame = pages.frame(c, {
      title: q === '' ? 'Search · Domain Records' : `${q} · Domain Records`,
      description: 'Finds watched hostnames, values in their records, services, issuers, receipts and days.',
      path: '/search',
      noindex: q !== '',
    });
    const refusal = q !== '' && !isSearchable ? 'A search needs a letter or a digit.' : null;
    const view = { frame, q, found: q === '' ? null : groupsOf(found, search), refusal };
    // Results of what a reader typed stay out of every cache.
    return pages.send(c, '/records/search', view, { isPrivate: q !== '' });
  };
};

/** The page that a query names directly: a day, or an observation by its number or hash; null for none. */
function directTarget({ store: { records }, now }: Pick<AppContext, 'store' | 'now'>, q: string): string | null {
  if (parseSpan(q) !== null && q.length === 10 && q <= dayOf(now())) return `/changes/${q}`;
  const [, number] = /^(?:seq\s*|no\.?\s*|#\s*)(\d{1,15})$/i.exec(q) ?? [];
  const [, hash] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(q) ?? [];
  const byNumber = number === undefined ? null : records.observationPlace(Number(number));
  const at = hash === undefined ? byNumber : records.receiptPlace(`sha256:${hash.toLowerCase()}`);
  return at === null ? null : `/t/${at.hostname}?as_of=${encodeURIComponent(isoTime(at.observed_at))}`;
}

/** The matches as JSON: all of them when signed in, otherwise the first three and the total. */
function searchJson(c: RecordsContext, found: Found[], { q, total: hosts, isWhole, sign_in_url }: Search): Response {
  const total = hosts + found.filter(({ kind }) => kind !== 'domain').length;
  setHeader(c, 'Vary', 'Accept, Cookie');
  setHeader(c, 'Access-Control-Allow-Origin', '*');
  if (isWhole) return privateJson(c, { q, items: found, total, next_cursor: null });
  const items = found.slice(0, PUBLIC_ROWS);
  return privateJson(c, { q, items, total, held_back: total - items.length, sign_in_url });
}

import { domainToUnicode } from 'node:url';
import { dayOf, isoTime, parseSpan } from '../../../src/proof/time.ts';
import { type Found, findEverywhere } from '../../../src/records/search.ts';
import type { FoundGroup } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { setHeader } from '../../responses/headers.ts';
import { privateJson } from '../../responses/send.ts';
import { signInUrl } from '../lanes/addresses.ts';
import type { RecordsContext } from '../route.ts';
import { COUNT_MAX } from '../v1/domains.ts';
import { signalLabel } from './change-view.ts';
import { FACET_LISTS, listOfKind, nameOf } from './facets.ts';
import { PUBLIC_ROWS, requestedPart } from './list.ts';
import { type PageSender, wantsPage } from './page.ts';

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
function directTarget({ store: { records }, clock: { now } }: AppContext, q: string): string | null {
  if (parseSpan(q) !== null && q.length === 10 && q <= dayOf(now())) return `/changes/${q}`;
  const [, number] = /^(?:seq\s*|no\.?\s*|#\s*)(\d{1,15})$/i.exec(q) ?? [];
  const [, hash] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(q) ?? [];
  const byNumber = number === undefined ? null : records.observationLocation(Number(number));
  const at = hash === undefined ? byNumber : records.receiptLocation(`sha256:${hash.toLowerCase()}`);
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

const VALUE_LENGTH = 100;

interface Search {
  q: string;
  total: number;
  isWhole: boolean;
  sign_in_url: string;
}

/** The matches in groups: hostnames, values, then each list of names. */
function groupsOf(found: Found[], search: Search): FoundGroup[] {
  const headings = [
    ['domain', 'Hostnames'],
    ['value', 'Hostnames with a matching value'],
    ...FACET_LISTS.map(({ kind, heading }) => [kind, heading]),
  ] as const;
  return headings.flatMap(([kind, heading]) => {
    const matches = found.filter((one) => one.kind === kind);
    return matches.length === 0 ? [] : [{ heading, ...groupOf(kind === 'domain', matches.map(rowOf), search) }];
  });
}

/** The search shows the first hostnames; the catalog pages through all of them. */
function groupOf(ofHosts: boolean, all: FoundGroup['rows'], { q, total: hosts, isWhole, sign_in_url }: Search) {
  const rows = isWhole ? all : all.slice(0, PUBLIC_ROWS);
  const total = ofHosts ? hosts : all.length;
  const held_back = isWhole ? 0 : total - rows.length;
  const next_url = ofHosts && isWhole && total > rows.length ? `/domains?q=${encodeURIComponent(q)}` : null;
  return { rows, end: { total, held_back, sign_in_url, next_url }, at_least: ofHosts && total >= COUNT_MAX };
}

function rowOf(found: Found): FoundGroup['rows'][number] {
  if (found.kind === 'domain') {
    const { domain, unicode, observed_at } = found;
    const seen = observed_at === null ? 'not observed yet' : `observed ${observed_at.slice(0, 10)}`;
    return { text: unicode, detail: unicode === domain ? seen : `${domain} · ${seen}`, url: `/t/${domain}` };
  }
  if (found.kind === 'value') {
    const { domain, signal, value, first_seen, last_seen } = found;
    const short = value.length > VALUE_LENGTH ? `${value.slice(0, VALUE_LENGTH).toWellFormed()}…` : value;
    const detail = `${signalLabel(signal)} ${short} · seen from ${first_seen.slice(0, 10)} to ${last_seen.slice(0, 10)}`;
    return { text: domainToUnicode(domain), detail, url: `/t/${domain}` };
  }
  const { name, kind, url } = nameOf(listOfKind(found.kind), found.name);
  const hosts = `${found.count.toLocaleString('en')} ${found.count === 1 ? 'hostname' : 'hostnames'}`;
  return { text: name, detail: kind === null ? hosts : `${kind} · ${hosts}`, url };
}

import * as z from 'zod';
import { present } from '../../../src/proof/narrow.ts';
import { dayOf } from '../../../src/proof/time.ts';
import type { FacetKind } from '../../../src/records/facets.ts';
import type { Link, NameRow } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { observationsState } from '../send.ts';
import { FACETS, type ListedFacet, serviceOf } from '../v1/facets.ts';
import { signalLabel } from './change-view.ts';
import { listEnd, requestedPart, sendHosts, sendListJson } from './list.ts';
import { type PageSender, wantsPage } from './page.ts';
import { nameTrends } from './trends.ts';

const NameCursor = z.tuple([z.int().min(0), z.string()]);
const HostCursor = z.tuple([z.string()]);

export function facetPages(app: AppContext, pages: PageSender) {
  const cache = new ResponseCache();
  return {
    names: (kind: FacetKind) => namesPage(kind, app, pages, cache),
    hosts: (kind: FacetKind) => hostsPage(kind, app, pages, cache),
  };
}

const namesPage = (kind: FacetKind, app: AppContext, pages: PageSender, cache: ResponseCache) => {
  const { records } = app.store;
  const list = listOfKind(kind);
  const { path, heading, noun, nouns, lede } = list;
  return (c: RecordsContext) => {
    const { limit, cursor, isWhole } = requestedPart(c);
    const part = () => {
      const [most, name] = readCursor(NameCursor, cursor);
      const after = most === undefined || name === undefined ? undefined : { count: most, name };
      const found = records.topFacets(kind, limit + 1, after);
      const page = pageOf(found, limit, (last) => cursorOf([last.count, last.name]));
      return { ...page, total: records.facetNames(kind) };
    };
    if (!wantsPage(c)) {
      return sendListJson(app, c, { cache, name: path }, () => {
        const { rows, ...rest } = part();
        if (!isListed(kind)) return { ...rest, rows };
        return { ...rest, rows: rows.map(({ name, count }) => ({ ...FACETS[kind].rowOf(name), count })) };
      });
    }
    const frame = pages.frame(c, { title: `${heading} · Domain Records`, description: lede, path });
    const view = () => {
      const found = part();
      const rows = trendRows(app, list, found.rows);
      const ways = [...linksToLists(), ...(isWhole && isListed(kind) ? [csvLink(path)] : [])];
      const end = listEnd(app.settings, found, isWhole, path);
      return { frame, heading, lede, noun, nouns, ways, rows, end };
    };
    // Trends end with today.
    const state = `${observationsState(records)}-${dayOf(app.clock.now())}`;
    return pages.sendCached(c, '/records/names', { frame, view }, { cache, name: path, state });
  };
};

const hostsPage = (kind: FacetKind, app: AppContext, pages: PageSender, cache: ResponseCache) => {
  const { records } = app.store;
  const list = listOfKind(kind);
  return (c: RecordsContext) => {
    const given = c.req.param('name') ?? '';
    const name = kind === 'service' ? `${c.req.param('kind')}:${given}` : given;
    const facet = { kind, name };
    const total = records.facetCount(facet);
    if (total === 0) {
      const message = `no watched hostname has the ${list.noun.toLowerCase()} ${JSON.stringify(given)}; GET ${list.path} lists those in use`;
      throw new Fault('not_found', message);
    }
    const { limit, cursor } = requestedPart(c);
    const part = () => {
      const [after = ''] = readCursor(HostCursor, cursor);
      const { rows, next } = pageOf(records.hostsWithFacet(facet, after, limit + 1), limit, (last) => cursorOf([last]));
      return { rows: rows.map((hostname) => records.find(hostname)).filter((host) => host !== null), total, next };
    };
    const heading = list.having(name);
    return sendHosts(app, pages, c, cache, {
      path: nameOf(list, name).url,
      title: heading,
      named: () => trendRows(app, list, [{ name, count: total }])[0] ?? null,
      heading,
      lede: `${total.toLocaleString('en')} of the watched hostnames, according to their latest records.`,
      ways: linksToLists(),
      part,
    });
  };
};

export function listOfKind(kind: FacetKind): FacetList {
  return present(FACET_LISTS.find((list) => list.kind === kind));
}

function isListed(kind: FacetKind): kind is ListedFacet {
  return Object.hasOwn(FACETS, kind);
}

export function csvLink(path: string): Link {
  return { url: `/account/exports${path}.csv`, text: 'All of it as CSV, for one request' };
}

/** Links to the catalog and every facet list. */
export function linksToLists(): Link[] {
  return [{ url: '/domains', text: 'Catalog' }, ...FACET_LISTS.map(({ path: url, heading: text }) => ({ url, text }))];
}

export interface FacetList {
  kind: FacetKind;
  path: string;
  heading: string;
  /** The singular and the plural of a name's kind. */
  noun: string;
  nouns: string;
  lede: string;
  having(name: string): string;
}

export const FACET_LISTS: readonly FacetList[] = [
  {
    kind: 'service',
    path: '/services',
    heading: 'Services',
    noun: 'Service',
    nouns: 'services',
    lede: 'Mail, DNS, hosting, content delivery and verification services, recognized in public records: MX, NS, CNAME, SPF includes and TXT tokens.',
    having: (name) => `Hostnames with ${serviceOf(name).service}`,
  },
  {
    kind: 'issuer',
    path: '/issuers',
    heading: 'Certificate issuers',
    noun: 'Issuer',
    nouns: 'issuers',
    lede: 'The organization that issued the certificate served on port 443.',
    having: (name) => `Certificates by ${name}`,
  },
  {
    kind: 'mailhost',
    path: '/mail-hosts',
    heading: 'Mail hosts',
    noun: 'Mail host',
    nouns: 'mail hosts',
    lede: 'Where mail is delivered: the registrable domains of MX hosts.',
    having: (name) => `Mail delivered to ${name}`,
  },
  {
    kind: 'nameserver',
    path: '/dns-hosts',
    heading: 'DNS hosts',
    noun: 'DNS host',
    nouns: 'DNS hosts',
    lede: 'Who serves the zones: the registrable domains of NS hosts.',
    having: (name) => `Zones served by ${name}`,
  },
  {
    kind: 'type',
    path: '/types',
    heading: 'Record types',
    noun: 'Type',
    nouns: 'record types',
    lede: 'How many hostnames have records of each type. DMARC is TXT at _dmarc, TLSA is queried at _443._tcp, and www is the subdomain of that name.',
    having: (name) => `Hostnames with ${signalLabel(name)} records`,
  },
];

/** A name as its list shows it. */
export function nameOf({ kind, path }: FacetList, name: string): Pick<NameRow, 'name' | 'kind' | 'url'> {
  if (kind === 'service') {
    const { service, kind: sort } = serviceOf(name);
    return { name: service, kind: sort, url: `${path}/${sort}/${encodeURIComponent(service)}` };
  }
  return { name: kind === 'type' ? signalLabel(name) : name, kind: null, url: `${path}/${encodeURIComponent(name)}` };
}

/** Names in their list, each with its share of all watched hostnames and its trend. */
export function trendRows(
  { store: { records }, clock: { now } }: AppContext,
  list: FacetList,
  rows: { name: string; count: number }[],
): NameRow[] {
  const { watched, paused } = records.counts();
  const names = rows.map(({ name }) => name);
  const trends = nameTrends(records, list.kind, names, dayOf(now()));
  return rows.map(({ name, count }) => ({
    ...nameOf(list, name),
    count,
    share: Math.min(1, count / Math.max(1, watched + paused)),
    trend: present(trends.get(name)),
  }));
}

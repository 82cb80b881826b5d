import { domainToUnicode } from 'node:url';
import type { FoundGroup } from '../../../src/records/reading-views.ts';
import type { Found } from '../../../src/records/search.ts';
import { COUNT_MAX } from '../v1/domains.ts';
import { signalLabel } from './change-view.ts';
import type { FacetList } from './facet-lists.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { PUBLIC_ROWS } from './list.ts';

/** Characters of a value. */
const VALUE_LENGTH = 100;

/** A search, and who sees its result. */
export interface Search {
  q: string;
  /** How many hostnames match. */
  total: number;
  /** Whether the reader is signed in, and so sees every match. */
  isWhole: boolean;
  sign_in_url: string;
}

/** The matches by kind, as the page shows them. */
export function groupsOf(found: Found[], search: Search): FoundGroup[] {
  return [
    hostnames(found, search),
    group('Hostnames with a matching value', found.flatMap(valueRow), search),
    ...FACET_LISTS.map((list) =>
      group(
        list.heading,
        found.flatMap((one) => listRow(list, one)),
        search,
      ),
    ),
  ].filter(({ rows }) => rows.length > 0);
}

function hostnames(found: Found[], search: Search): FoundGroup {
  const { q, total, isWhole } = search;
  const whole = group('Hostnames', found.flatMap(hostRow), search, total);
  // The search shows the first matches; the catalog pages through all of them.
  const next_url = isWhole && total > whole.rows.length ? `/domains?q=${encodeURIComponent(q)}` : null;
  return { ...whole, end: { ...whole.end, next_url }, at_least: total >= COUNT_MAX };
}

function group(
  heading: string,
  all: FoundGroup['rows'],
  { isWhole, sign_in_url }: Search,
  total = all.length,
): FoundGroup {
  const rows = isWhole ? all : all.slice(0, PUBLIC_ROWS);
  const held_back = isWhole ? 0 : total - rows.length;
  return { heading, rows, end: { total, held_back, sign_in_url, next_url: null }, at_least: false };
}

function hostRow(found: Found): FoundGroup['rows'] {
  if (found.kind !== 'domain') return [];
  const { domain, unicode, observed_at } = found;
  const seen = observed_at === null ? 'not observed yet' : `observed ${observed_at.slice(0, 10)}`;
  return [{ text: unicode, detail: unicode === domain ? seen : `${domain} · ${seen}`, url: `/t/${domain}` }];
}

function valueRow(found: Found): FoundGroup['rows'] {
  if (found.kind !== 'value') return [];
  const { domain, signal, value, first_seen, last_seen } = found;
  const [first, last] = [first_seen, last_seen].map((at) => String(at).slice(0, 10));
  const short = value.length > VALUE_LENGTH ? `${value.slice(0, VALUE_LENGTH).toWellFormed()}…` : value;
  const detail = `${signalLabel(signal)} ${short} · seen from ${first} to ${last}`;
  return [{ text: domainToUnicode(domain), detail, url: `/t/${domain}` }];
}

function listRow(list: FacetList, found: Found): FoundGroup['rows'] {
  if (found.kind === 'domain' || found.kind === 'value' || found.kind !== list.kind) return [];
  const { name, kind, count, url } = nameRow(list, found, 0);
  const hosts = `${count.toLocaleString('en')} ${count === 1 ? 'hostname' : 'hostnames'}`;
  return [{ text: name, detail: kind === null ? hosts : `${kind} · ${hosts}`, url }];
}

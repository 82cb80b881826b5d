import { domainToUnicode } from 'node:url';
import type { FoundGroup } from '../../../src/records/reading-views.ts';
import type { Found } from '../../../src/records/search.ts';
import { signalLabel } from './change-view.ts';
import { COUNTED } from './domains.ts';
import type { FacetList } from './facet-lists.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { OPEN_ROWS } from './list.ts';

/** Of a value, in characters. */
const SHOWN = 100;

/** Who asks for what: words, and how many hostnames fit them; whether the reader sees all of a list. */
export interface Asked {
  q: string;
  total: number;
  isWhole: boolean;
  sign_in_url: string;
}

/** What a search found, sort by sort, as its page shows it. */
export function groupsOf(found: Found[], asked: Asked): FoundGroup[] {
  return [
    hostnames(found, asked),
    group('Hostnames with such a value', found.flatMap(valueRow), asked),
    ...FACET_LISTS.map((list) =>
      group(
        list.heading,
        found.flatMap((one) => listRow(list, one)),
        asked,
      ),
    ),
  ].filter(({ rows }) => rows.length > 0);
}

function hostnames(found: Found[], asked: Asked): FoundGroup {
  const { q, total, isWhole } = asked;
  const whole = group('Hostnames', found.flatMap(hostRow), asked, total);
  // The search names the first of them; the catalog has every page.
  const next_url = isWhole && total > whole.rows.length ? `/domains?q=${encodeURIComponent(q)}` : null;
  return { ...whole, end: { ...whole.end, next_url }, at_least: total >= COUNTED };
}

function group(
  heading: string,
  all: FoundGroup['rows'],
  { isWhole, sign_in_url }: Asked,
  total = all.length,
): FoundGroup {
  const rows = isWhole ? all : all.slice(0, OPEN_ROWS);
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
  const short = value.length > SHOWN ? `${value.slice(0, SHOWN).toWellFormed()}…` : value;
  const detail = `${signalLabel(signal)} ${short} · seen from ${first} to ${last}`;
  return [{ text: domainToUnicode(domain), detail, url: `/t/${domain}` }];
}

function listRow(list: FacetList, found: Found): FoundGroup['rows'] {
  if (found.kind === 'domain' || found.kind === 'value' || found.kind !== list.kind) return [];
  const { name, kind, count, url } = nameRow(list, found, 0);
  const hosts = `${count.toLocaleString('en')} ${count === 1 ? 'hostname' : 'hostnames'}`;
  return [{ text: name, detail: kind === null ? hosts : `${kind} · ${hosts}`, url }];
}

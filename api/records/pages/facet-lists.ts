import type { FacetKind } from '../../../src/records/facets.ts';
import type { NameRow } from '../../../src/records/reading-views.ts';
import { serviceOf } from '../v1/facets.ts';
import { signalLabel } from './change-view.ts';

/** A list of the names of one kind of facet, with its own address. */
export interface FacetList {
  kind: FacetKind;
  /** Address of the list. The hostnames of a name are below it. */
  path: string;
  heading: string;
  /** The singular and the plural of a name's kind. */
  noun: string;
  nouns: string;
  lede: string;
  /** The heading of the list of hostnames with one name. */
  having(name: string): string;
}

/** In display order. */
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

/** A name in its list; `watched` is the number of all hostnames. */
export function nameRow(
  { kind, path }: FacetList,
  { name, count }: { name: string; count: number },
  watched: number,
): NameRow {
  const share = watched === 0 ? 0 : Math.min(1, count / watched);
  if (kind === 'service') {
    const { service, kind: sort } = serviceOf(name);
    return { name: service, kind: sort, count, share, url: `${path}/${sort}/${encodeURIComponent(service)}` };
  }
  const shown = kind === 'type' ? signalLabel(name) : name;
  return { name: shown, kind: null, count, share, url: `${path}/${encodeURIComponent(name)}` };
}

import type { FacetKind } from '../../../src/records/facets.ts';
import type { NameRow } from '../../../src/records/reading-views.ts';
import { serviceOf } from '../v1/facets.ts';
import { signalLabel } from './change-view.ts';

/** A list of names by how many hostnames have each, at an address of its own. */
export interface FacetList {
  kind: FacetKind;
  /** Where the list is; what has a name is below it. */
  path: string;
  heading: string;
  /** What one name is, and what several are. */
  noun: string;
  nouns: string;
  lede: string;
  /** What a hostname does that is on the list of one name, for its heading. */
  having(name: string): string;
}

/** In the order in which pages name them. */
export const FACET_LISTS: readonly FacetList[] = [
  {
    kind: 'service',
    path: '/services',
    heading: 'Services',
    noun: 'Service',
    nouns: 'services',
    lede: 'Mail, DNS, hosting, delivery networks and verifications, told from public records: MX, NS, CNAME, SPF includes and TXT tokens.',
    having: (name) => `Hostnames with ${serviceOf(name).service}`,
  },
  {
    kind: 'issuer',
    path: '/issuers',
    heading: 'Certificate issuers',
    noun: 'Issuer',
    nouns: 'issuers',
    lede: 'Who issued the certificate that a hostname shows on port 443, by organisation.',
    having: (name) => `Certificates by ${name}`,
  },
  {
    kind: 'mailhost',
    path: '/mail-hosts',
    heading: 'Mail hosts',
    noun: 'Mail host',
    nouns: 'mail hosts',
    lede: 'Where mail is delivered: the registrable domains of the hosts in MX records.',
    having: (name) => `Mail delivered to ${name}`,
  },
  {
    kind: 'nameserver',
    path: '/dns-hosts',
    heading: 'DNS hosts',
    noun: 'DNS host',
    nouns: 'DNS hosts',
    lede: 'Who answers for the names: the registrable domains of the hosts in NS records.',
    having: (name) => `Zones served by ${name}`,
  },
  {
    kind: 'type',
    path: '/types',
    heading: 'Record types',
    noun: 'Type',
    nouns: 'record types',
    lede: 'How many hostnames have records of each type. DMARC is TXT at _dmarc, TLSA is asked for at _443._tcp, and www stands for the name below.',
    having: (name) => `Hostnames with ${signalLabel(name)} records`,
  },
];

/** A name as its list shows it; `watched` is how many hostnames there are. */
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

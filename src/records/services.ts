import { entriesOf } from '../narrow.ts';
import { SERVICES } from './service-table.ts';
import type { SignalType } from './signal.ts';

/** A service to which a host's records point. */
export interface ServiceSeen {
  service: string;
  /** `mail`, `dns`, `hosting`…, as in the service table. */
  kind: string;
  /** The signal types in which it was found, sorted. */
  seen_in: string[];
}

/** A host's values by type, from a probe or from its baseline. */
type Values = Partial<Record<SignalType, readonly string[]>>;

/** The services that a probe's records point to, sorted by name. */
export function servicesSeen({
  signals,
}: {
  signals: Partial<Record<SignalType, { values: string[] }>>;
}): ServiceSeen[] {
  return servicesOf(Object.fromEntries(entriesOf(signals).map(([type, { values }]) => [type, values])));
}

/** The services to which values point, sorted by name, without duplicates. */
export function servicesOf(values: Values): ServiceSeen[] {
  const hosts = Object.fromEntries(entriesOf(values).map(([type, list]) => [type, list.map(hostIn)]));
  const texts = (values.TXT ?? []).map((value) => unquoted(value).toLowerCase());
  const included = texts.flatMap(includesOf);
  const found: ServiceSeen[] = [];
  for (const pattern of SERVICES) {
    const seen_in = entriesOf(pattern.hosts ?? {})
      .filter(([type, ends]) => hosts[type]?.some((host) => ends.some((end) => isAtOrBelow(host, end))))
      .map(([type]) => type);
    const isInTexts =
      pattern.txt?.some((beginning) => texts.some((text) => text.startsWith(beginning))) ||
      pattern.spf?.some((name) => included.some((host) => isAtOrBelow(host, name)));
    if (isInTexts) seen_in.push('TXT');
    const { nameserver } = pattern;
    if (nameserver !== undefined && hosts.NS?.some((host) => nameserver.test(host))) seen_in.push('NS');
    if (seen_in.length > 0) found.push({ service: pattern.service, kind: pattern.kind, seen_in: seen_in.sort() });
  }
  return found.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function order({ service, kind }: ServiceSeen): string {
  return `${service}\n${kind}`;
}

/** The host in a value: the last word, because an MX value begins with its preference. */
function hostIn(value: string): string {
  return value
    .slice(value.lastIndexOf(' ') + 1)
    .toLowerCase()
    .replace(/\.$/, '');
}

function isAtOrBelow(host: string, name: string): boolean {
  return host.endsWith(name) && (host.length === name.length || host[host.length - name.length - 1] === '.');
}

/** The strings of a TXT value joined, without the quotation marks of the presentation form. */
function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1).replace(/"$/, '').replaceAll('" "', '') : value;
}

/** The names that an SPF record includes (RFC 7208, section 5.2); none for any other text. */
function includesOf(text: string): string[] {
  if (!text.startsWith('v=spf1 ')) return [];
  return text
    .split(/\s+/)
    .filter((term) => /^\+?include:/.test(term))
    .map((term) => term.slice(term.indexOf(':') + 1));
}

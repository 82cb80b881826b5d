import { entriesOf, present } from '../proof/narrow.ts';
import type { SignalType } from '../proof/records/signal.ts';
import type { DomainBaseline } from './delta.ts';
import { registrableDomain } from './hostname.ts';
import { servicesOf } from './services.ts';
import { certificateParts } from './tracked-values.ts';

/** `expiry` is the day the certificate expires; `service` is `<kind>:<name>`. */
export type FacetKind = 'type' | 'service' | 'issuer' | 'expiry' | 'nameserver' | 'mailhost';

export interface Facet {
  kind: FacetKind;
  name: string;
}

/** The facets under which a host is listed and counted, derived from its baseline, without duplicates. */
export function facetsOf(baseline: DomainBaseline): Facet[] {
  const facets = new Map<string, Facet>();
  const add = (kind: FacetKind, name: string): void => void facets.set(`${kind} ${name}`, { kind, name });
  const values: Partial<Record<SignalType, string[]>> = {};
  for (const [signal, { values: known }] of entriesOf(baseline)) {
    if (known.length === 0) continue;
    if (signal === 'CERTIFICATE') {
      const parts = certificateParts(present(known[0]));
      if (parts === null) continue;
      add('issuer', issuerName(parts.issuer));
      add('expiry', parts.not_after.slice(0, 10));
      continue;
    }
    values[signal] = known;
    add('type', signal);
  }
  for (const { service, kind } of servicesOf(values)) add('service', `${kind}:${service}`);
  for (const host of values.NS ?? []) add('nameserver', registrableDomain(host) ?? host);
  for (const value of values.MX ?? []) {
    const host = value.split(' ').at(-1) ?? '';
    // A null MX (RFC 7505) names no host.
    if (host !== '' && host !== '.') add('mailhost', registrableDomain(host) ?? host);
  }
  return [...facets.values()];
}

/** The display name of an issuer: its organization, else its common name, else the whole distinguished name. */
export function issuerName(issuer: string): string {
  const part = (name: string): string | undefined =>
    new RegExp(`(?:^|, )${name}=((?:\\\\.|[^,\\\\])+)`).exec(issuer)?.[1]?.replace(/\\(.)/g, '$1');
  return part('O') ?? part('CN') ?? issuer;
}

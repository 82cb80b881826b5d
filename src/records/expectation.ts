import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { SIGNAL_TYPES, type SignalType } from '../proof/records/signal.ts';
import { issuerName } from './facets.ts';
import type { OriginOf } from './rotation.ts';
import { servicesOf } from './services.ts';
import { certificateParts, type TrackedName } from './tracked-values.ts';
import { valueInLine } from './wire-rows.ts';

/** An account's rule for one type of a hostname, whether an answer meets it, and both in words. */

export const TYPES: readonly TrackedName[] = [...SIGNAL_TYPES, 'CERTIFICATE'];
export const FAMILY: Partial<Record<TrackedName, 4 | 6>> = { A: 4, WWW_A: 4, AAAA: 6, WWW_AAAA: 6 };
export const HOSTS: readonly TrackedName[] = ['NS', 'CNAME', 'WWW_CNAME', 'MX'];

/** A rule as it is stored: exactly one kind, with members in the form in which answers are recorded. */
export type Rule =
  | { values: string[]; subset?: boolean | undefined }
  | { prefixes: string[] }
  | { as: number[] }
  | { issuers: string[] }
  | { providers: string[] };

/** Whether an answer meets a rule; null if that cannot be decided. An empty answer only meets a rule without values. */
export function isMet(signal: TrackedName, rule: Rule, values: readonly string[], originOf?: OriginOf): boolean | null {
  if ('values' in rule) {
    if (rule.values.length === 0 || values.length === 0) return rule.values.length === values.length;
    const isKnown = values.every((value) => rule.values.includes(value));
    return isKnown && (rule.subset === true || values.length === rule.values.length);
  }
  if ('as' in rule && originOf === undefined) return null;
  if (values.length === 0) return false;
  return values.every((value) => isOf(signal, rule, value, originOf));
}

function isOf(
  signal: TrackedName,
  rule: Exclude<Rule, { values: string[] }>,
  value: string,
  originOf?: OriginOf,
): boolean {
  if ('issuers' in rule) {
    const parts = certificateParts(value);
    return parts !== null && rule.issuers.includes(issuerName(parts.issuer));
  }
  if ('as' in rule) return rule.as.includes(originOf?.(value) ?? 0);
  if ('prefixes' in rule) {
    if (FAMILY[signal] === undefined) return rule.prefixes.some((prefix) => value.startsWith(prefix));
    const address = ipaddr.parse(value);
    return rule.prefixes.some((prefix) => address.match(ipaddr.parseCIDR(prefix)));
  }
  const host = (value.split(' ').at(-1) ?? '').toLowerCase();
  // `servicesOf` recognizes services by the apex's types.
  const type: SignalType = signal === 'WWW_CNAME' ? 'CNAME' : (signal as SignalType);
  const services = servicesOf({ [type]: [value] }).map(({ service }) => service);
  return rule.providers.some(
    (provider) => services.includes(provider) || host === provider || host.endsWith(`.${provider}`),
  );
}

/** A rule in words, for alerts and pages. */
export function ruleText(rule: Rule): string {
  if ('values' in rule) {
    if (rule.values.length === 0) return 'no records';
    return rule.subset === true && rule.values.length > 1 ? `some of ${listed(rule.values)}` : listed(rule.values);
  }
  if ('prefixes' in rule) {
    const areNetworks = rule.prefixes.every((prefix) => isIP(prefix.split('/')[0] ?? '') !== 0);
    return `${areNetworks ? 'within' : 'beginning with'} ${listed(rule.prefixes)}`;
  }
  if ('as' in rule) return `of ${listed(rule.as.map((asn) => `AS${asn}`))}`;
  return 'issuers' in rule ? `issued by ${listed(rule.issuers)}` : `at ${listed(rule.providers)}`;
}

const LISTED_MAX = 5;

/** Values in one line of text. */
export function listed(values: readonly string[]): string {
  const more = values.length > LISTED_MAX ? ` and ${values.length - LISTED_MAX} more` : '';
  return values.slice(0, LISTED_MAX).map(valueInLine).join(', ') + more;
}

import { domainToUnicode } from 'node:url';
import type { Delta } from '../../../src/records/delta.ts';
import { issuerName } from '../../../src/records/facets.ts';
import { certificateParts } from '../../../src/records/tracked-values.ts';
import type { ChangeView } from '../../../src/records/views.ts';
import { isoTime } from '../../../src/time.ts';

/** Of a value on a page, in characters. */
const LONGEST_VALUE = 90;
/** So many values are named on each side of a change. */
const MOST_VALUES = 4;

/** A change as pages show it: what went and what came, not all that stands. */
export function changeView({ seq, at, domain, signal, kind, before, after }: Delta): ChangeView {
  const lost = before.filter((value) => !after.includes(value));
  const gained = after.filter((value) => !before.includes(value));
  return {
    seq,
    at: isoTime(at),
    domain,
    unicode: domainToUnicode(domain),
    url: `/t/${domain}`,
    signal: signalLabel(signal),
    kind,
    lost: lost.slice(0, MOST_VALUES).map(shortValue),
    gained: gained.slice(0, MOST_VALUES).map(shortValue),
    more_lost: Math.max(0, lost.length - MOST_VALUES),
    more_gained: Math.max(0, gained.length - MOST_VALUES),
  };
}

/** A signal's name for people. */
export function signalLabel(signal: string): string {
  if (signal === 'CERTIFICATE') return 'certificate';
  if (signal === 'TLSA') return '_443 TLSA';
  return signal.replace(/^WWW_/, 'www ');
}

/** A value as pages name it: a certificate by its issuer, end and fingerprint; what is long, cut. */
export function shortValue(value: string): string {
  const certificate = certificateParts(value);
  if (certificate !== null) {
    const { issuer, not_after, fingerprint256 } = certificate;
    return `${issuerName(issuer)}, until ${not_after.slice(0, 10)} (${fingerprint256.slice(0, 8)}…)`;
  }
  // A cut between the halves of a surrogate pair would leave half a character.
  const characters = [...value];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE - 1).join('')}…` : value;
}

import type { Change } from './delta.ts';
import { issuerName } from './facets.ts';
import { certificateParts } from './tracked-values.ts';

/** The longest value in a line, in characters. */
const LONGEST_VALUE = 60;
/** The most values that a line lists; the others are counted. */
const MOST_VALUES = 3;

/**
 * A change in one line of plain text, for the tape, feeds and mails: `example.com A changed: 192.0.2.1 → 192.0.2.2`.
 */
export function changeLine({ domain, signal, kind, before, after }: Change & { domain: string }): string {
  const name = signal.replace(/^WWW_(.*)$/, 'www $1');
  if (kind === 'added') return `${domain} ${name} added: ${listed(after)}`;
  if (kind === 'removed') return `${domain} ${name} removed: ${listed(before)}`;
  const gained = after.filter((value) => !before.includes(value));
  const lost = before.filter((value) => !after.includes(value));
  if (gained.length === 0) return `${domain} ${name} changed: without ${listed(lost)}`;
  if (lost.length === 0) return `${domain} ${name} changed: with ${listed(gained)}`;
  return `${domain} ${name} changed: ${listed(lost)} → ${listed(gained)}`;
}

function listed(values: string[]): string {
  const named = values.slice(0, MOST_VALUES).map(short).join(', ');
  return values.length > MOST_VALUES ? `${named} and ${values.length - MOST_VALUES} more` : named;
}

function short(value: string): string {
  const certificate = certificateParts(value);
  if (certificate !== null) return `${issuerName(certificate.issuer)} until ${certificate.not_after.slice(0, 10)}`;
  // Slicing the string could split a surrogate pair.
  const characters = [...value];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE - 1).join('')}…` : value;
}

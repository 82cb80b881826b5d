import { membersIn } from '../../proof/narrow.ts';
import type { Disclosed } from '../../proof/records/disclosure.ts';
import { KNOWN_STATUSES } from '../../proof/records/signal.ts';

/** Maximum number of changes listed, and maximum length of a value, in UTF-16 units. */
const NAMED_MAX = 20;
const VALUE_MAX = 200;

/** Signals whose values rotate by themselves. Only whether they have any values is compared. */
const ROTATING: ReadonlySet<string> = new Set(['A', 'AAAA', 'WWW_A', 'WWW_AAAA']);

/**
 * The differences of a later observation of a hostname from the cited one, one line each, for the fields that both
 * show. As for changes of the records (protocol 5.9), an unknown answer changes nothing, values are compared as sets,
 * and the serial of an SOA and ECH keys are ignored. A renewed certificate with the same names and issuer is not a
 * change.
 */
export function changesBetween(cited: readonly Disclosed[], later: readonly Disclosed[]): string[] {
  const now = new Map(later.map(({ name, value }) => [name, value]));
  return cited
    .flatMap(({ name, value }) => (now.has(name) ? fieldChanges(name, value, now.get(name)) : []))
    .slice(0, NAMED_MAX);
}

function fieldChanges(name: string, before: unknown, after: unknown): string[] {
  if (name === 'summary') return summaryChanges(membersIn(before), membersIn(after));
  const said = [before, after].map((value) => saidOf(name, value));
  if (said.includes(null) || said[0] === said[1]) return [];
  return [`${name.replace(/^signals\./, '')}: ${said.map((text) => shown(text ?? '')).join(' → ')}`];
}

/** The value of a field in a comparable form; null when it has none, or an unknown answer. */
function saidOf(name: string, value: unknown): string | null {
  if (name === 'domain' || name === 'registrable_domain') return typeof value === 'string' ? value : 'none';
  if (name === 'wildcard') return typeof value === 'boolean' ? (value ? 'yes' : 'no') : null;
  if (name === 'certificate') {
    const { issuer, san } = membersIn(value);
    return value === null ? null : `${JSON.stringify(san)} of ${issuer}`;
  }
  const { status, values } = membersIn(value);
  if (!name.startsWith('signals.') || !Array.isArray(values)) return null;
  if (!KNOWN_STATUSES.some((one) => one === status)) return null;
  const type = name.slice('signals.'.length);
  if (values.length === 0) return 'none';
  if (ROTATING.has(type)) return 'some';
  return [...new Set(values.map((one) => withoutRotating(type, `${one}`)))].sort().join(', ');
}

/** A value without the parts that rotate by themselves. */
function withoutRotating(type: string, value: string): string {
  const words = value.split(' ');
  if (type === 'SOA') return words.filter((_, index) => index !== 2).join(' ');
  return /HTTPS$|^SVCB$/.test(type) ? words.filter((word) => !word.startsWith('ech=')).join(' ') : value;
}

/** Differences in the number of values, for types whose answers are known in both. */
function summaryChanges(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  return Object.keys(before).flatMap((type) => {
    const [was, is] = [before[type], after[type]].map((count) => (ROTATING.has(type) ? count && 'some' : count));
    if (before[type] === undefined || after[type] === undefined || was === is) return [];
    return [`${type}: ${shown(`${was}`)} → ${shown(`${is}`)} values`];
  });
}

function shown(text: string): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ');
  return plain.length <= VALUE_MAX ? plain : `${plain.slice(0, VALUE_MAX - 1).toWellFormed()}…`;
}

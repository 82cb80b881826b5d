import { domainToASCII } from 'node:url';
import { escapeText } from './probe/dns/escape.ts';
import { certificateParts, type TrackedName } from './tracked-values.ts';

const CHUNK = 64;

/** An indexed value: shared by all hosts that have it or, if long, specific to one host and signal. */
export interface IndexedValue {
  id: number;
  host: number | null;
  signal: string | null;
  value: string;
}

/** A value as seen at one host. Times in ms. */
export interface ValueSighting {
  host: number;
  hostname: string;
  signal: TrackedName;
  value: string;
  first_seen: number;
  last_seen: number;
  /** The number of probes that showed the value. */
  count: number;
}

export interface ValueTables {
  /** Values that match an FTS5 query, by id, starting with id `from`. */
  valuesThatMatch(match: string, from: number, limit: number): IndexedValue[];
  /** Shown hosts with exactly this value, after the given one. */
  sightingsOf(value: string, after: { host: number; signal: string }, limit: number): ValueSighting[];
  /** The sighting of a value at one host; null when the host is not shown. */
  sightingAt(host: number, signal: string, value: string): ValueSighting | null;
}

export interface ValueCursor {
  /** 0: exact matches; 1: values with all the words; 2: values where the last word of the query is a prefix. */
  tier: number;
  id: number;
  host: number;
  signal: string;
}

export const FIRST_VALUE: ValueCursor = { tier: 0, id: 0, host: 0, signal: '' };

/**
 * Sightings of values equal to the query, then of values with all its words, then of values with words that start with
 * its last word. Very recent values are not indexed yet, so only exact matches find them.
 */
export function* valueSightings(
  tables: ValueTables,
  q: string,
  after: ValueCursor = FIRST_VALUE,
): Iterable<{ sighting: ValueSighting; cursor: ValueCursor }> {
  // Hosts are stored in lower case, texts as in the zone.
  const exact = [...new Set([q, q.toLowerCase()])];
  const match = valueMatch(q);
  for (let tier = after.tier; tier <= 2; tier++) {
    const from = tier === after.tier ? after.id : 0;
    for (const value of tier === 0 ? asAsked(exact, from) : indexed(tables, matchOf(match, tier), from)) {
      if (tier > 0 && exact.includes(value.value)) continue;
      const isBegun = tier === after.tier && value.id === after.id;
      for (const sighting of seen(tables, value, isBegun ? after : FIRST_VALUE)) {
        yield { sighting, cursor: { tier, id: value.id, host: sighting.host, signal: sighting.signal } };
      }
    }
  }
}

function asAsked(exact: string[], from: number): IndexedValue[] {
  return exact.map((value, id) => ({ id, host: null, signal: null, value })).slice(from);
}

function matchOf(match: ReturnType<typeof valueMatch>, tier: number): string | null {
  if (match === null || tier === 1) return match?.whole ?? null;
  return match.begun === null ? null : `(${match.begun}) NOT (${match.whole})`;
}

function* indexed(tables: ValueTables, match: string | null, from: number): Iterable<IndexedValue> {
  for (let next = from; match !== null; ) {
    const values = tables.valuesThatMatch(match, next, CHUNK);
    yield* values;
    if (values.length < CHUNK) return;
    next = (values.at(-1)?.id ?? 0) + 1;
  }
}

function* seen(
  tables: ValueTables,
  { host, signal, value }: IndexedValue,
  after: ValueCursor,
): Iterable<ValueSighting> {
  if (host !== null && signal !== null) {
    const one = after.host === 0 ? tables.sightingAt(host, signal, value) : null;
    if (one !== null) yield one;
    return;
  }
  for (let last: { host: number; signal: string } = after; ; ) {
    const sightings = tables.sightingsOf(value, last, CHUNK);
    yield* sightings;
    if (sightings.length < CHUNK) return;
    last = sightings.at(-1) ?? last;
  }
}

/**
 * The most words indexed per value, so that a padded TXT record cannot fill the index; the most words per query; and
 * the length at which words are cut.
 */
const WORDS_MAX = 200;
const QUERY_WORDS_MAX = 24;
const WORD_LENGTH = 64;
/** The longest query, in UTF-16 units: Unicode mapping of longer texts may take much longer. */
const QUESTION_LENGTH = 253;
/** The minimum length of a prefix search: too many words begin with a single letter. */
const BEGINNING_MIN = 2;

/** Separates the words, hosts and addresses in a value. */
const PARTS = /[\s"/=,;()]+/;
/** An IPv4 address or a prefix with a dot, or an IPv6 address or a prefix with two colons. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{0,3}){1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$/;
/** SPF's mechanisms for addresses (RFC 7208, section 5.6). */
const MECHANISM = /^[-+~?]?ip[46]:/;
const BETWEEN_WORDS = /[^a-z0-9]+/;

/**
 * The words of a value in the index: labels of hosts, words of texts, whole addresses, a certificate's fingerprint and
 * issuer.
 */
export function valueWords(value: string): string {
  const certificate = certificateParts(value);
  const text = certificate === null ? value : `${certificate.fingerprint256} ${certificate.issuer}`;
  return text.split(PARTS).flatMap(wordsOf).slice(0, WORDS_MAX).join(' ');
}

/** FTS5 queries for a search: values with all its words, and values where the last word is a prefix. */
interface ValueMatch {
  whole: string;
  /** Null when the last word is too short for a prefix search. */
  begun: string | null;
}

/** Terms match in any order; the words within a term must be adjacent. Null for a query without a letter or digit. */
export function valueMatch(question: string): ValueMatch | null {
  const q = question.slice(0, QUESTION_LENGTH).toWellFormed();
  const asked = [...new Set([escapeText(Buffer.from(q)), domainToASCII(q) || q])]
    .map(phrasesOf)
    .filter((one) => one.length > 0);
  if (asked.length === 0) return null;
  const query = (end: string): string =>
    asked.map((phrases) => `(${phrases.map((words) => `"${words}"`).join(' AND ')}${end})`).join(' OR ');
  const isLong = asked.some((phrases) => (phrases.at(-1)?.split(' ').at(-1) ?? '').length >= BEGINNING_MIN);
  return { whole: query(''), begun: isLong ? query('*') : null };
}

function phrasesOf(q: string): string[] {
  const phrases: string[] = [];
  let left = QUERY_WORDS_MAX;
  for (const term of q.trim().split(/\s+/)) {
    const words = term.split(PARTS).flatMap(wordsOf).slice(0, left);
    left -= words.length;
    if (words.length > 0) phrases.push(words.join(' '));
  }
  return [...new Set(phrases)];
}

function wordsOf(part: string): string[] {
  const low = part.toLowerCase();
  const address = low.replace(MECHANISM, '');
  if (ADDRESS.test(address)) return [address];
  return low
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, WORD_LENGTH));
}

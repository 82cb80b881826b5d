import { domainToASCII } from 'node:url';
import { escapeText } from './dns/escape.ts';
import { certificateParts } from './tracked-values.ts';

/**
 * The most words of one value, so that a TXT record padded with words cannot fill the index; and the most words of a
 * query.
 */
const WORDS_MAX = 200;
const QUERY_WORDS_MAX = 24;
/** The maximum length of a word, in characters: that of a fingerprint. */
const WORD_LENGTH = 64;
/**
 * The maximum length of a query, in UTF-16 units: that of a name. Unicode mapping of longer texts may take much longer.
 */
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
 * The words of a value as stored in the index, separated by spaces: labels of hosts, words of texts, whole addresses,
 * and the fingerprint and issuer of a certificate.
 */
export function valueWords(value: string): string {
  const certificate = certificateParts(value);
  const text = certificate === null ? value : `${certificate.fingerprint256} ${certificate.issuer}`;
  return text.split(PARTS).flatMap(wordsOf).slice(0, WORDS_MAX).join(' ');
}

/** FTS5 queries for a search: values with all its words, and values where the last word is a prefix. */
export interface ValueMatch {
  whole: string;
  /** Null when the last word is too short for a prefix search. */
  begun: string | null;
}

/**
 * Terms separated by whitespace match in any order; the words within a term must be adjacent. Returns null for a query
 * without a letter or digit. Words after the first `QUERY_WORDS_MAX` are ignored.
 */
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

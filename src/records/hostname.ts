import { createHash } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';
import { Fault } from '../shared/fault.ts';
import { quoted } from '../shared/quoted.ts';

export interface Hostname {
  /** Lower-case A-labels without a trailing dot: the key under which everything is stored. */
  hostname: string;
  unicode: string;
  /** The registered part of the name, also under private suffixes such as `github.io`; null for a suffix. */
  registrable_domain: string | null;
}

/** Without the trailing dot: RFC 1035, section 2.3.4, allows 255 octets with the length bytes and the root. */
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
/** Longer texts are not parsed. A Unicode name is never longer than its A-labels. */
const LONGEST_TEXT = 1_000;

/** Letters, digits and hyphens, no hyphen at either end (RFC 1123, section 2.1). */
const LDH = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The LetterDigits of IDNA2008 (RFC 5892, section 2.1) and what it allows in context (appendix A); no emoji. */
const U_LABEL = /^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\-·͵׳״・\u200c\u200d]+$/u;

/** Characters that URL parsing would silently cut off, remove or decode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NOT_IN_A_NAME = /[\u0000-\u0020\u007f-\u00a0"#%/:<>?@[\\\]^`{|}\u2028\u2029]/;

/**
 * Parses a hostname, in Unicode (mapped by UTS 46, limited to IDNA2008) or in A-labels, with or without a trailing dot.
 * Throws `invalid_request`, also for addresses, wildcards, names with underscores, and names of one label.
 */
export function parseHostname(text: string): Hostname {
  return hostnameOfField(text, 'domain');
}

/** Like `parseHostname`, for a field with another name. */
export function hostnameOfField(text: string, field: string): Hostname {
  const refuse = (why: string): never => {
    const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    throw new Fault('invalid_request', `${quoted(shown)} is not a hostname: ${why}`, { field });
  };
  if (text === '') refuse('it is empty; give a name such as example.com');
  if (text.length > LONGEST_TEXT) refuse(`it has ${text.length} characters; a name has at most ${LONGEST_NAME}`);
  if (text.includes('*')) refuse('a wildcard is not watched; give one name below it');
  if (text.includes('_')) refuse('a hostname has no underscores; give the host itself, its _dmarc is queried with it');
  if (text.includes('[') || /^[0-9a-f]*:[0-9a-f:.]*$/i.test(text)) refuse('addresses are not watched; give a name');
  if (NOT_IN_A_NAME.test(text) || !text.isWellFormed()) {
    refuse('give the name alone, without a scheme, port, path, space or other character');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the range that begins there
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  const mapped = isAscii ? text.toLowerCase() : domainToASCII(text);
  if (mapped === '') refuse('its Unicode cannot be written in A-labels (UTS 46)');
  const hostname = mapped.endsWith('.') ? mapped.slice(0, -1) : mapped;
  if (hostname.length > LONGEST_NAME) {
    refuse(`in A-labels it has ${hostname.length} characters; a name has at most ${LONGEST_NAME}`);
  }
  const labels = hostname.split('.');
  if (labels.includes('')) refuse('it has an empty label; put one dot between labels');
  for (const label of labels) {
    if (label.length > LONGEST_LABEL) {
      refuse(`the label ${label} has ${label.length} characters; a label has at most ${LONGEST_LABEL}`);
    }
    if (!LDH.test(label)) {
      refuse(`the label ${label} may contain only letters, digits and inner hyphens (RFC 1123)`);
    }
    if (label.startsWith('xn--')) {
      // An A-label must be the encoding of exactly one U-label (RFC 5890, section 2.3.2.1).
      const unicode = domainToUnicode(label);
      if (unicode === '' || unicode === label || domainToASCII(unicode) !== label) {
        refuse(`the label ${label} does not decode to a Unicode label`);
      }
      if (!U_LABEL.test(unicode))
        refuse(`the label ${unicode} contains a character that IDNA2008 does not allow in names`);
    }
  }
  // A numeric last label makes the whole name an IPv4 address (WHATWG URL, "ends in a number").
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) refuse('addresses are not watched; give a name');
  if (labels.length < 2) refuse('it has one label only; give the whole name, such as example.com');
  return { hostname, unicode: domainToUnicode(hostname), registrable_domain: registrableDomain(hostname) };
}

/**
 * The registrable domain of a hostname in A-labels, by the Public Suffix List with its private section; null for a
 * suffix.
 */
export function registrableDomain(hostname: string): string | null {
  return getDomain(hostname, { allowPrivateDomains: true });
}

/** The labels from the right, `com.example.www`, so that names below a name sort together. */
export function pathOf(hostname: string): string {
  return hostname.split('.').reverse().join('.');
}

/** The name and its parents with at least two labels: an opt-out of any of them covers the name. */
export function nameAndParents(hostname: string): string[] {
  const labels = hostname.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

/**
 * Who operates a hostname's name servers: the registrable domain of the first one if known, else of the hostname.
 * Leases mix operators, so as not to overload one.
 */
export function operatorOf(hostname: string, [first]: readonly string[]): string {
  return (first === undefined ? null : registrableDomain(first)) ?? registrableDomain(hostname) ?? hostname;
}

/**
 * The hash by which names are distributed over nodes and buckets: SHA-256 in hex, of the registrable domain, so that
 * all its names are together, or of the name itself if it has none. A bucket is a prefix of the hash.
 */
export function bucketHash(hostname: string, registrable_domain: string | null): string {
  return createHash('sha256')
    .update(registrable_domain ?? hostname)
    .digest('hex');
}

import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';

/** The longest address, in characters: the limit of an SMTP path (RFC 5321, section 4.5.3.1.3). */
export const ADDRESS_MAX = 254;
/** The longest part before the @ (RFC 5321, section 4.5.3.1.1). */
const LOCAL_MAX = 64;
/** The longest hostname (RFC 1035, section 2.3.4). */
const DOMAIN_MAX = 253;

/** A mail address that mail can be sent to. */
export interface Address {
  /** The part before the @ as it was given, and the domain in lower-case A-labels. */
  email: string;
  /** The same in lower case. Requests with the same key belong to one reader. */
  key: string;
}

/** A valid part before the @: runs of `atext`, separated by single dots (RFC 5322, section 3.2.3). */
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/**
 * Parses a mail address, or explains what is wrong with it. A Unicode domain is converted to A-labels (RFC 5890). A
 * part before the @ that is quoted or not ASCII is rejected, because many servers do not accept it.
 */
export function readAddress(text: string): Address | { problem: string } {
  if (text.length > ADDRESS_MAX * 4) return { problem: `is longer than ${ADDRESS_MAX} characters` };
  const plain = text.normalize('NFC');
  if (!plain.isWellFormed() || /[\p{Cc}\p{Zs}\u2028\u2029]/u.test(plain)) {
    return { problem: 'has a blank or a control character in it' };
  }
  const at = plain.lastIndexOf('@');
  if (at < 1 || at === plain.length - 1) return { problem: 'is not of the form name@example.org' };
  const local = plain.slice(0, at);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is meant whole.
  if (/[^\x00-\x7f]/.test(local)) {
    return { problem: 'has letters outside of ASCII before the @, which many mail servers cannot take' };
  }
  const domain = hostOf(plain.slice(at + 1));
  if (domain === null) return { problem: 'has no Internet domain after the @' };
  if (local.length > LOCAL_MAX) return { problem: `has more than ${LOCAL_MAX} characters before the @` };
  if (!DOT_ATOM.test(local)) return { problem: 'has characters before the @ that addresses rarely contain' };
  const email = `${local}@${domain}`;
  if (email.length > ADDRESS_MAX) return { problem: `is longer than ${ADDRESS_MAX} characters` };
  return { email, key: email.toLowerCase() };
}

/** A domain name with at least two labels, in lower-case A-labels; null for anything else. */
function hostOf(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is meant whole.
  if (!/^(?:[a-z0-9.-]|[^\x00-\x7f])+$/i.test(text)) return null;
  const name = domainToASCII(text);
  const labels = name.split('.');
  const sound = labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  return sound && labels.length >= 2 && name.length <= DOMAIN_MAX && /[a-z]/.test(labels.at(-1) ?? '') ? name : null;
}

/** Identifies a reader of a paper without the address: a SHA-256 in hex. */
export function readerOf(paper: string, { key }: Pick<Address, 'key'>): string {
  return createHash('sha256').update(`${paper}\n${key}`).digest('hex');
}

/** Domains of one mail service, which ignores dots before the @. */
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/**
 * The mailbox that an address probably reaches: in lower case, without the part from a `+` to the @ (subaddressing, RFC
 * 5233), at Gmail without dots. Use it neither as a mail address nor as an identity: a host may give `a+b@` to another
 * person.
 */
export function mailboxOf(email: string): string {
  const low = email.toLowerCase();
  const at = low.lastIndexOf('@');
  const domain = low.slice(at + 1);
  const whole = low.slice(0, at);
  const plus = whole.indexOf('+');
  const local = plus > 0 ? whole.slice(0, plus) : whole;
  return GMAIL.has(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}

/** A mailbox as it is stored. Its uses are counted for at most a day after its accounts and subscriptions are gone. */
export function mailboxHash(email: string): string {
  return createHash('sha256')
    .update(`mailbox\n${mailboxOf(email)}`)
    .digest('hex')
    .slice(0, 32);
}

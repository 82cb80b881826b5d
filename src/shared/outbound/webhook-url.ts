import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { isoTime } from '../../proof/time.ts';
import { isPublicAddress } from '../public-address.ts';

/** The longest URL of a webhook, in UTF-16 units. */
export const WEBHOOK_MAX = 2_000;
/** The number of random bytes in a webhook's secret. */
const SECRET_BYTES = 32;

/** Suffixes that public DNS does not resolve (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476). */
const INNER = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa|test|invalid|onion|alt)$/;

/**
 * What is wrong with a webhook's URL; null when it may be stored. The IP addresses of its host are checked when
 * connecting. With `allowsPrivate` it may be plain http and lead anywhere.
 */
export function webhookProblem(text: string, allowsPrivate = false): string | null {
  if (text.length > WEBHOOK_MAX) return `is longer than ${WEBHOOK_MAX} characters`;
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || (allowsPrivate && url?.protocol === 'http:');
  if (url === null || !isWeb) return 'is not an https address';
  if (url.username !== '' || url.password !== '') return 'holds a user name or a password; the signature proves us';
  if (url.hash !== '') return 'has a fragment, which is never sent';
  if (allowsPrivate) return null;
  const host = url.hostname.replace(/\.$/, '');
  const literal = literalOf(url);
  if (literal !== null) return isPublicAddress(literal) ? null : 'leads to an address that is not public';
  return host.includes('.') && !INNER.test(host) ? null : 'leads to a host that is not public';
}

/** The IP address in a URL's host; null for a hostname. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.replace(/\.$/, '').replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}

/** The host of a URL, with a port other than the default: the part that may be shown. */
export function hostOf(text: string): string {
  return URL.parse(text)?.host ?? '';
}

/** A new signing secret in the format of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The body of every webhook request (protocol 10), as JSON. `at` is in ms. */
export function eventBody(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: isoTime(at), data });
}

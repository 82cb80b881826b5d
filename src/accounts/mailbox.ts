import { createHash } from 'node:crypto';

/** Domains that ignore dots before the @, and are one service. */
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/**
 * The mailbox that an address probably reaches, by its text: in lower case, without what follows a `+` before the @
 * (subaddressing, RFC 5233), at Gmail without dots. Use it neither to write to nor to identify anybody: a host may give
 * `a+b@` to another person.
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

/**
 * What finds the other addresses of a mailbox in an index: the address without
 * what follows a `+`, the span in which all that have a `+` there lie, and how they end.
 */
export function subaddresses(email: string): { bare: string; from: string; to: string; at: string } {
  const at = email.slice(email.lastIndexOf('@'));
  const whole = email.slice(0, -at.length);
  const plus = whole.indexOf('+');
  const name = plus > 0 ? whole.slice(0, plus) : whole;
  // The sign after `+` is the comma, which stands before the @ in no address.
  return { bare: `${name}${at}`, from: `${name}+`, to: `${name},`, at };
}

/** A mailbox as it is stored: it counts a day longer than its accounts, and names nobody. */
export function mailboxHash(email: string): string {
  return createHash('sha256')
    .update(`mailbox\n${mailboxOf(email)}`)
    .digest('hex')
    .slice(0, 32);
}

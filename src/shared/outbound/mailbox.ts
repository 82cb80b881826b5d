import { createHash } from 'node:crypto';

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

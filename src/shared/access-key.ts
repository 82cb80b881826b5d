import { createHash, createHmac } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 37;
const CHECK_LENGTH = 6;
const FORM = /^([0-9A-Za-z]{37})([0-9A-Za-z]{6})$/;

/**
 * A new key (protocol 9.1): the prefix, 37 random characters (220 bits), and a checksum of 6. `random` returns n secure
 * random bytes.
 */
export function newKeyText(prefix: string, random: (n: number) => Uint8Array): string {
  let body = '';
  while (body.length < BODY_LENGTH) {
    for (const byte of random(BODY_LENGTH * 2)) {
      // 248 is the largest multiple of 62 in a byte, so all characters are equally likely.
      if (byte < 248 && body.length < BODY_LENGTH) body += BASE62[byte % 62];
    }
  }
  return `${prefix}${body}${checksum(prefix, body)}`;
}

/** Whether a text has the prefix, the shape and the checksum of a key; it distinguishes a typo from an unknown key. */
export function isKeyText(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const [, body, check] = FORM.exec(text.slice(prefix.length)) ?? [];
  return body !== undefined && checksum(prefix, body) === check;
}

/** The hash under which a key or a token is stored: SHA-256 in hex. The secret itself is not stored. */
export function secretHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What a mailed link is for: readers of a paper, seats in its console, or accounts of the records. */
type LinkPurpose = 'confirm' | 'manage' | 'console' | 'sign-in' | 'unsubscribe' | 'feed';

/**
 * The token of a mailed link: 256 bits that only the holder of the secret can compute. It is deterministic, so that a
 * resent mail has the same link, and no token is stored in the clear. `of` is the id of the mail, the reader or the
 * account.
 */
export function linkToken(secret: Uint8Array, purpose: LinkPurpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

function checksum(prefix: string, body: string): string {
  let rest = createHash('sha256').update(prefix).update(body).digest().readUIntBE(0, 6);
  let text = '';
  for (let position = 0; position < CHECK_LENGTH; position++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

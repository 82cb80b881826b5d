import { createHash, createHmac } from 'node:crypto';

/** What a mailed link is for: to sign in once, or to end change alerts by mail at any time. */
export type LinkPurpose = 'sign-in' | 'unsubscribe';

/**
 * The token of a mailed link: 256 bits that only the holder of the secret can compute. It is deterministic, so that a
 * mail that is sent again says the same, and no token is stored in the clear until its mail goes out. `of` is the mail's
 * id, or the account's.
 */
export function mailedToken(secret: Uint8Array, purpose: LinkPurpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

/** What is stored of a token: the hex of its SHA-256. */
export function mailedHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

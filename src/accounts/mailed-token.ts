import { createHash, createHmac } from 'node:crypto';

/** The purpose of a mailed link: to sign in once, or to end change mails at any time. */
export type LinkPurpose = 'sign-in' | 'unsubscribe';

/**
 * The token of a mailed link: 256 bits that only the holder of the secret can compute. It is deterministic, so that a
 * resent mail has the same link, and no token is stored in the clear before its mail is sent. `of` is the id of the
 * mail or of the account.
 */
export function mailedToken(secret: Uint8Array, purpose: LinkPurpose, of: string): string {
  return createHmac('sha256', secret).update(`${purpose}\n${of}`).digest('base64url');
}

/** The stored form of a token: its SHA-256 in hex. */
export function mailedHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

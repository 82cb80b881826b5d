import { Point } from '@noble/ed25519';

/**
 * Whether bytes are the canonical encoding of a point of prime order (protocol 2.1). A signature by a key of small
 * order proves nothing. If a key or an R has a component of small order, RFC 8032 leaves open which of two equations to
 * check, and libraries disagree.
 */
export function isPrimeOrder(bytes: Uint8Array): boolean {
  try {
    const point = Point.fromBytes(bytes);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}

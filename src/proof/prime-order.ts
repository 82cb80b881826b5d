import { Point } from '@noble/ed25519';

/**
 * Whether bytes are the canonical encoding of a point of prime order (protocol 2.1). A signature under a key of small
 * order proves nothing, and where a key or an R has a component of small order, RFC 8032 does not say which of two
 * equations to check: libraries disagree.
 */
export function isPrimeOrder(bytes: Uint8Array): boolean {
  try {
    const point = Point.fromBytes(bytes);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}

import { Point } from '@noble/ed25519';

/**
 * Whether bytes are a point of prime order in its one encoding. A signature under
 * a key of small order proves nothing, and where a key or an R has a part of small
 * order RFC 8032 leaves open which of two equations is checked: libraries disagree.
 */
export function isPrimeOrder(bytes: Uint8Array): boolean {
  try {
    const point = Point.fromBytes(bytes);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}

import { createHash } from 'node:crypto';

/** The definitions of RFC 6962, section 2.1, verbatim, as a reference for the faster code. */

const sha256 = (...parts: Uint8Array[]): Uint8Array =>
  new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());

/** The largest power of two below n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** MTH(D[n]), section 2.1. */
export function mth(data: Uint8Array[]): Uint8Array {
  if (data.length === 0) return sha256();
  if (data.length === 1) return sha256(Uint8Array.of(0), data[0] as Uint8Array);
  const k = split(data.length);
  return sha256(Uint8Array.of(1), mth(data.slice(0, k)), mth(data.slice(k)));
}

/** PATH(m, D[n]), section 2.1.1. */
export function pathOf(m: number, data: Uint8Array[]): Uint8Array[] {
  if (data.length === 1) return [];
  const k = split(data.length);
  return m < k
    ? [...pathOf(m, data.slice(0, k)), mth(data.slice(k))]
    : [...pathOf(m - k, data.slice(k)), mth(data.slice(0, k))];
}

/** PROOF(m, D[n]), section 2.1.2. */
export function proofOf(m: number, data: Uint8Array[]): Uint8Array[] {
  return subproof(m, data, true);
}

function subproof(m: number, data: Uint8Array[], isWhole: boolean): Uint8Array[] {
  if (m === data.length) return isWhole ? [] : [mth(data)];
  const k = split(data.length);
  return m <= k
    ? [...subproof(m, data.slice(0, k), isWhole), mth(data.slice(k))]
    : [...subproof(m - k, data.slice(k), false), mth(data.slice(0, k))];
}

/** A rate limit per address: an IPv4 address, or the /64 of an IPv6 one. */
export interface Limit {
  points: number;
  /** The window, in seconds. */
  duration: number;
}

/** Reads of the public lane, of either service. */
export const READS: Limit = { points: 1_200, duration: 60 };
/** Subscription requests: each may send a mail. */
export const ORDERS: Limit = { points: 30, duration: 60 };
/** Sign-in links: each may send a mail. */
export const ASKS: Limit = { points: 20, duration: 600 };
/** Attempts to sign in to a paper's console, by whichever way. */
export const SIGN_INS: Limit = { points: 100, duration: 600 };
/** Rejected payments: each may have cost a request to the facilitator and to the chain. */
export const REFUSED_PAYMENTS: Limit = { points: 60, duration: 60 };

/** Accounts per network and UTC day: an IPv4 /24, or an IPv6 /48. */
export const SIGN_UPS_MAX = 20;
/** Concurrent streams per address without an account. */
export const STREAMS_ADDRESS = 5;

/** A limit in words: `1,200 in 60 seconds`, `20 in 10 minutes`. */
export function limitInWords({ points, duration }: Limit): string {
  const span = duration % 60 === 0 && duration > 60 ? `${duration / 60} minutes` : `${duration} seconds`;
  return `${points.toLocaleString('en')} in ${span}`;
}

/** So many requests of one address in a span: an IPv4 address, or the /64 of an IPv6 one. */
export interface Limit {
  points: number;
  /** The span, in seconds. */
  duration: number;
}

/** Reads of the public lane, of either service. */
export const READS: Limit = { points: 1_200, duration: 60 };
/** Orders of alerts: each one may send a mail to somebody. */
export const ORDERS: Limit = { points: 30, duration: 60 };
/** Links to sign in: each one may be a mail to somebody. */
export const ASKS: Limit = { points: 20, duration: 600 };
/** Payments that came to nothing: each may have been checked by a facilitator and a chain. */
export const REFUSED_PAYMENTS: Limit = { points: 60, duration: 60 };

/** Accounts that one network may make in a UTC day: an IPv4 /24, or an IPv6 /48. */
export const SIGN_UPS_MAX = 20;
/** Streams that an account, and an address without one, may have open at a time. */
export const STREAMS_MAX = { account: 10, address: 5 };

/** A limit as documents say it: `1,200 in 60 seconds`, `20 in 10 minutes`. */
export function limitInWords({ points, duration }: Limit): string {
  const span = duration % 60 === 0 && duration > 60 ? `${duration / 60} minutes` : `${duration} seconds`;
  return `${points.toLocaleString('en')} in ${span}`;
}

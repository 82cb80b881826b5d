/** Micro-credits per credit. Amounts are whole micro-credits, so nothing is ever rounded. */
export const CREDIT = 1_000_000;

/** The price of a request past the allowance: 0.05 credits (protocol 9.4). */
export const REQUEST_COST = 50_000;

/** The largest amount of one entry: 1,000,000 credits. */
export const CREDITS_MAX = 1_000_000 * CREDIT;

/** Micro-credits as credits, precise enough to print every amount that the ledger may hold. */
export function creditsOf(micro: number): number {
  return micro / CREDIT;
}

/**
 * Parses an amount such as `25` or `0.05` into micro-credits; null unless it is positive, has at most six decimals and
 * is at most `CREDITS_MAX`.
 */
export function parseCredits(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,7})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const micro = Number(whole) * CREDIT + Number(decimals.padEnd(6, '0'));
  return micro > 0 && micro <= CREDITS_MAX ? micro : null;
}

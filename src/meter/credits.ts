/** Credits are kept as whole micro-credits, so that nothing is ever rounded. */
export const CREDIT = 1_000_000;

/** What a request past the allowance costs: 0.05 credits (spec, "Limits"). */
export const REQUEST_COST = 50_000;

/** The most that one entry may move, and far more than anybody buys: 1,000,000 credits. */
export const CREDITS_MAX = 1_000_000 * CREDIT;

/** Micro-credits as credits. A double holds every amount that the ledger may hold exactly enough to print it. */
export function creditsOf(micro: number): number {
  return micro / CREDIT;
}

/**
 * The micro-credits of a text such as `25` or `0.05`; null for one that is no
 * amount above nothing, has more than six decimals, or is more than an entry
 * may move.
 */
export function parseCredits(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,7})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const micro = Number(whole) * CREDIT + Number(decimals.padEnd(6, '0'));
  return micro > 0 && micro <= CREDITS_MAX ? micro : null;
}

/** Prices by a route's path, in atomic units of the token. `*` is every other route. */
export type Prices = ReadonlyMap<string, number>;

/** The default prices, in millionths of a dollar, the atomic units of USDC. */
const DEFAULTS: Prices = new Map([
  ['/v1/domains/{domain}', 1_000],
  ['/v1/domains/{domain}/provenance', 2_000],
  ['/v1/domains/{domain}/history', 2_000],
  ['/v1/stream', 20_000],
  // The price of one credit, which is worth twenty requests.
  ['/v1/credits', 50_000],
  ['*', 5_000],
]);

/** The highest price, in atomic units, which limits the damage of a typo in a setting. */
const HIGHEST_PRICE = 1_000_000_000;

/** The defaults with `path=units` entries applied; null for a malformed entry. */
export function parsePrices(entries: readonly string[]): Prices | null {
  const prices = new Map(DEFAULTS);
  for (const entry of entries) {
    const [, path, units] = /^(\*|\/[\w/{}.-]*)=([1-9]\d{0,9})$/.exec(entry) ?? [];
    if (path === undefined || Number(units) > HIGHEST_PRICE) return null;
    prices.set(path, Number(units));
  }
  return prices;
}

/** A path's price: that of the matching entry with the most literal segments, else of `*`. */
export function priceOf(prices: Prices, path: string): { pattern: string; units: number } {
  const segments = path.split('/');
  let best = { pattern: '*', units: prices.get('*') ?? HIGHEST_PRICE, named: -1 };
  for (const [pattern, units] of prices) {
    const parts = pattern.split('/');
    if (parts.length !== segments.length) continue;
    const isOpen = (part: string) => /^\{.*\}$/.test(part);
    if (!parts.every((part, at) => part === segments[at] || (isOpen(part) && segments[at] !== ''))) continue;
    const named = parts.filter((part) => !isOpen(part)).length;
    if (named > best.named) best = { pattern, units, named };
  }
  return { pattern: best.pattern, units: best.units };
}

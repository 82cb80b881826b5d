import type { Asset, Network } from './offer.ts';

/** The settings that open the paid lane: all or none. */
const REQUIRED = ['X402_FACILITATOR_URL', 'X402_PAY_TO', 'X402_NETWORK', 'X402_ASSET'] as const;

interface Given {
  X402_FACILITATOR_URL?: string | undefined;
  X402_PAY_TO?: string | undefined;
  X402_NETWORK?: Network | undefined;
  X402_ASSET?: string | undefined;
  X402_ASSET_NAME?: string | undefined;
  X402_ASSET_VERSION?: string | undefined;
  X402_PRICES: Prices;
  X402_RPC_URL?: string | undefined;
}

export function paidLane(env: Given) {
  const { X402_FACILITATOR_URL: facilitator, X402_PAY_TO: payTo, X402_NETWORK: network, X402_PRICES: prices } = env;
  const asset = assetOf(env);
  if (facilitator === undefined || payTo === undefined || network === undefined || asset === null) return null;
  return { facilitator, payTo: payTo.toLowerCase(), network, asset, prices, rpc: env.X402_RPC_URL ?? null };
}

/** The first missing setting when only some are set; null when all or none are. */
export function paymentSettingMissing(env: Given): { name: string; message: string } | null {
  const given = REQUIRED.find((name) => env[name] !== undefined);
  if (given === undefined) return null;
  const name = REQUIRED.find((needed) => env[needed] === undefined);
  if (name !== undefined) return { name, message: `must be set where ${given} is` };
  if (assetOf(env) !== null) return null;
  return {
    name: env.X402_ASSET_NAME === undefined ? 'X402_ASSET_NAME' : 'X402_ASSET_VERSION',
    message: `must be set where X402_ASSET is not the USDC of ${env.X402_NETWORK?.name}`,
  };
}

/** The payment token: the network's USDC, or one whose EIP-712 domain is given; null for neither. */
function assetOf(env: Given): Asset | null {
  const address = env.X402_ASSET?.toLowerCase();
  const usdc = env.X402_NETWORK?.usdc;
  const [name, version] = [env.X402_ASSET_NAME, env.X402_ASSET_VERSION];
  if (address === undefined || usdc === undefined) return null;
  if (address === usdc.address) return { ...usdc, name: name ?? usdc.name, version: version ?? usdc.version };
  return name === undefined || version === undefined ? null : { address, name, version, decimals: null };
}

/** Prices by route path, in atomic units of the token. `*` stands for every other route. */
export type Prices = ReadonlyMap<string, number>;

/** The default prices, in millionths of a dollar, the atomic units of USDC. */
const DEFAULTS: Prices = new Map([
  ['/v1/domains/{domain}', 1_000],
  ['/v1/domains/{domain}/provenance', 2_000],
  ['/v1/domains/{domain}/history', 2_000],
  ['/v1/stream', 20_000],
  // One credit, which is worth twenty requests.
  ['/v1/credits', 50_000],
  ['*', 5_000],
]);

/** The highest price, in atomic units, which limits the damage of a typo in a setting. */
export const HIGHEST_PRICE = 1_000_000_000;

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

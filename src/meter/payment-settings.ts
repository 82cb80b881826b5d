import type { Asset, Network } from './networks.ts';
import type { Prices } from './prices.ts';

/** The settings that open the paid lane: all or none. */
const REQUIRED = ['X402_FACILITATOR_URL', 'X402_PAY_TO', 'X402_NETWORK', 'X402_ASSET'] as const;

/** The environment's settings for payments. */
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

/** The paid lane's settings; null while it is closed. */
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

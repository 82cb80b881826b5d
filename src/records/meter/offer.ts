import type { Payment, Reason } from './payment.ts';

/** How long a payer's authorization should be valid, in seconds. */
const TIMEOUT_SECONDS = 300;

export interface Terms {
  network: Network;
  asset: Asset;
  /** The address on chain, in lower case. */
  payTo: string;
}

export interface Offer extends Terms {
  /** In atomic units of the asset. */
  units: number;
  resource: string;
  description: string;
  mimeType: string;
}

export function requirementsV1({ network, asset, payTo, units, resource, description, mimeType }: Offer) {
  return {
    scheme: 'exact',
    network: network.name,
    maxAmountRequired: String(units),
    asset: asset.address,
    payTo,
    resource,
    description,
    mimeType,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    extra: { name: asset.name, version: asset.version },
  };
}

export function requirementsV2({ network, asset, payTo, units }: Offer) {
  return {
    scheme: 'exact',
    network: network.caip2,
    amount: String(units),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    extra: { name: asset.name, version: asset.version },
  };
}

/** The content of x402 version 2's `PAYMENT-REQUIRED`: the offer, and the reason for it. */
export function requiredV2(offer: Offer, error: string) {
  const { resource: url, description, mimeType } = offer;
  return { x402Version: 2, error, resource: { url, description, mimeType }, accepts: [requirementsV2(offer)] };
}

/** A price for people: `0.001 USDC`, or atomic units where the token's decimals are not known. */
export function priceInWords({ units, asset }: Pick<Offer, 'units' | 'asset'>): string {
  const { decimals, name } = asset;
  if (decimals === null) return `${units} atomic units of ${name}`;
  const digits = String(units).padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const rest = digits.slice(-decimals).replace(/0+$/, '');
  return `${whole}${rest === '' ? '' : `.${rest}`} ${name}`;
}

/** Why a payment does not match this offer at a time (in ms); null when it does. The signature is not checked. */
export function offerMismatch(
  { scheme, network, accepted, transfer }: Payment,
  offer: Offer,
  now: number,
): Reason | null {
  const { to, value, validAfter, validBefore } = transfer.authorization;
  const seconds = BigInt(Math.floor(now / 1_000));
  if (scheme !== 'exact') return 'wrong_scheme';
  if (network !== offer.network.name && network !== offer.network.caip2) return 'wrong_network';
  if (accepted !== null && accepted.asset !== offer.asset.address) return 'wrong_asset';
  if (to !== offer.payTo || (accepted !== null && accepted.payTo !== offer.payTo)) return 'wrong_payee';
  const units = String(offer.units);
  if (value !== units || (accepted !== null && accepted.amount !== units)) return 'wrong_amount';
  if (BigInt(validAfter) > seconds) return 'not_yet_valid';
  if (BigInt(validBefore) <= seconds) return 'expired';
  return null;
}

/** A payment token, as EIP-3009 and EIP-712 need it. */
export interface Asset {
  /** The contract, in lower case. */
  address: string;
  /** The EIP-712 domain that payers sign under. */
  name: string;
  version: string;
  /** Decimals of an amount; null when unknown. */
  decimals: number | null;
}

/** The two names of a chain: in x402 version 1, and in CAIP-2. */
export interface Network {
  name: string;
  caip2: `eip155:${number}`;
  usdc: Asset;
}

export const NETWORKS: readonly Network[] = [
  {
    name: 'base',
    caip2: 'eip155:8453',
    usdc: { address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', name: 'USD Coin', version: '2', decimals: 6 },
  },
  {
    name: 'base-sepolia',
    caip2: 'eip155:84532',
    usdc: { address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', name: 'USDC', version: '2', decimals: 6 },
  },
];

export function networkOf(text: string): Network | null {
  return NETWORKS.find(({ name, caip2 }) => name === text || caip2 === text) ?? null;
}

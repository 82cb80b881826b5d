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

/** A chain by its two names: that of x402 version 1, and CAIP-2's. */
export interface Network {
  name: string;
  caip2: `eip155:${number}`;
  /** Circle's USDC on this network. */
  usdc: Asset;
}

/** The layer-2 networks on which payments are accepted. */
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

/** Finds a network by either name; null for an unknown one. */
export function networkOf(text: string): Network | null {
  return NETWORKS.find(({ name, caip2 }) => name === text || caip2 === text) ?? null;
}

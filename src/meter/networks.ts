/** A token that pays, as EIP-3009 and EIP-712 need it. */
export interface Asset {
  /** The contract, in lower case. */
  address: string;
  /** Of the EIP-712 domain: payers sign under these two. */
  name: string;
  version: string;
  /** Digits behind the point; null where they are not known. */
  decimals: number | null;
}

/** A chain by its two names: that of x402 version 1, and CAIP-2's. */
export interface Network {
  name: string;
  caip2: `eip155:${number}`;
  /** Circle's dollar there. */
  usdc: Asset;
}

/** The layer-2 networks that payments are taken on. */
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

/** The network of a name, of either kind; null for one that is not known. */
export function networkOf(text: string): Network | null {
  return NETWORKS.find(({ name, caip2 }) => name === text || caip2 === text) ?? null;
}

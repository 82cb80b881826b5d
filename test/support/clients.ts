import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { createWalletClient, http } from 'viem';
import { wrapFetchWithPayment } from 'x402-fetch';
import { CHAIN, type LocalChain, NETWORK, type Payer } from './chain.ts';

/** A `fetch` that pays automatically when asked to. */
export type PayingFetch = (input: string | Request, init?: RequestInit) => Promise<Response>;

/** The client of x402 version 1. */
export function oldClient(payer: Payer, { url }: LocalChain): PayingFetch {
  const wallet = createWalletClient({ account: payer, chain: CHAIN, transport: http(url) });
  return wrapFetchWithPayment(fetch, wallet as never);
}

/** The client of x402 version 2. */
export function newClient(payer: Payer, send = fetch): PayingFetch {
  return wrapFetchWithPaymentFromConfig(send, {
    schemes: [{ network: NETWORK.caip2, client: new ExactEvmScheme(payer) }],
  });
}

import { createServer } from 'node:http';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator';
import { type LocalChain, NETWORK, type Payer } from './chain.ts';
import { loopback } from './loopback.ts';

type Kind = 'verify' | 'settle';

/**
 * How a facilitator handles a request. `silent` executes it and hangs up, `stalls` executes it and does not answer,
 * `hangs` does nothing at all.
 */
export type Act =
  | 'honest'
  | 'hangs'
  | 'stalls'
  | 'silent'
  | 'lies'
  | 'fails'
  | 'garbage'
  | 'endless'
  | 'refuses'
  | 'pending';

export interface TestFacilitator {
  url: string;
  /** Sets how it handles the payments of one payer. */
  treat(payer: Payer, acts: Partial<Record<Kind, Act>>): void;
  /** The number of requests about a payer. */
  asked(payer: Payer, kind: Kind): number;
  /** Runs `work` just before it settles a payer's payment. */
  beforeSettling(payer: Payer, work: () => unknown): void;
}

interface Scope {
  after(work: () => unknown): void;
}

/** A text that no response of the service may repeat. */
export const RAW = 'raw-facilitator-text';

/** A facilitator from x402's own library that can be told to misbehave. */
export async function startFacilitator(t: Scope, { node }: LocalChain): Promise<TestFacilitator> {
  const signer = toFacilitatorEvmSigner({
    address: node.account.address,
    readContract: (args) => node.readContract(args as never),
    verifyTypedData: (args) => node.verifyTypedData(args as never),
    writeContract: (args) => node.writeContract(args as never),
    sendTransaction: (args) => node.sendTransaction(args as never),
    waitForTransactionReceipt: (args) => node.waitForTransactionReceipt(args),
    getCode: (args) => node.getCode(args),
  });
  const facilitator = new x402Facilitator()
    .register(NETWORK.caip2, new ExactEvmScheme(signer))
    .registerV1(NETWORK.name as never, new ExactEvmSchemeV1(signer));
  const treatments = new Map<string, Partial<Record<Kind, Act>>>();
  const counts = new Map<string, number>();
  const befores = new Map<string, () => unknown>();

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/supported') return json(200, facilitator.getSupported());
    const kind: Kind = request.url === '/verify' ? 'verify' : 'settle';
    const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString());
    const payer = String(paymentPayload.payload.authorization.from).toLowerCase();
    counts.set(kind + payer, (counts.get(kind + payer) ?? 0) + 1);
    if (kind === 'settle') await befores.get(payer)?.();
    const work = () => facilitator[kind](paymentPayload, paymentRequirements);
    switch (treatments.get(payer)?.[kind] ?? 'honest') {
      case 'honest':
        return json(200, await work());
      case 'hangs':
        return;
      case 'stalls':
        await work();
        return;
      case 'silent':
        await work();
        return response.destroy();
      case 'lies':
        return json(200, { isValid: true, success: true, transaction: `0x${'ab'.repeat(32)}`, network: NETWORK.name });
      case 'fails':
        return json(500, { error: RAW, isValid: false, success: false, errorReason: 'insufficient_funds' });
      case 'garbage':
        return response.end(`<p>${RAW}`);
      case 'endless':
        return response.end(`"${RAW.repeat(10_000)}"`);
      case 'refuses':
        return json(400, { isValid: false, invalidReason: RAW, success: false, errorReason: 'insufficient_funds' });
      case 'pending':
        return json(200, { success: false, errorReason: 'settlement_pending', errorMessage: RAW, transaction: '' });
    }
  });
  return {
    url: await loopback(t, server),
    treat: ({ address }, acts) => void treatments.set(address.toLowerCase(), acts),
    asked: ({ address }, kind) => counts.get(kind + address.toLowerCase()) ?? 0,
    beforeSettling: ({ address }, work) => void befores.set(address.toLowerCase(), work),
  };
}

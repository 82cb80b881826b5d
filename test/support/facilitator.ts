import { createServer } from 'node:http';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator';
import type { LocalChain } from './chain.ts';
import { NETWORK } from './chain.ts';
import { loopback } from './loopback.ts';

/** What a facilitator does with one kind of request. `late` does it, and then says nothing. */
export type Mode = 'honest' | 'hangs' | 'late' | 'lies' | 'fails' | 'garbage' | 'endless' | 'refuses' | 'pending';

export interface TestFacilitator {
  url: string;
  /** What it does from now on. */
  verify: Mode;
  settle: Mode;
  /** How often it was asked. */
  asked: { verify: number; settle: number };
  /** Called before each request is answered. */
  before: (kind: 'verify' | 'settle') => unknown;
}

interface Scope {
  after(work: () => unknown): void;
}

/** What no answer of ours may repeat. */
export const RAW = 'raw-facilitator-text';

/** A facilitator as x402's own library makes one, which can be told to be a bad one. */
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
  const state: TestFacilitator = {
    url: '',
    verify: 'honest',
    settle: 'honest',
    asked: { verify: 0, settle: 0 },
    before: () => {},
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/supported') return json(200, facilitator.getSupported());
    const kind = request.url === '/verify' ? 'verify' : 'settle';
    state.asked[kind]++;
    await state.before(kind);
    const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString());
    const work = () => facilitator[kind](paymentPayload, paymentRequirements);
    switch (state[kind]) {
      case 'honest':
        return json(200, await work());
      case 'hangs':
        return;
      case 'late':
        await work();
        return;
      case 'lies':
        return json(200, { isValid: true, success: true, transaction: `0x${'ab'.repeat(32)}`, network: NETWORK.name });
      case 'fails':
        return json(500, { error: RAW, isValid: false, success: false, errorReason: 'insufficient_funds' });
      case 'garbage':
        return response.end(`<p>${RAW}`);
      case 'endless':
        while (response.writable && response.write(`"${RAW.repeat(1_000)}"`)) await new Promise(setImmediate);
        return;
      case 'refuses':
        return json(400, { isValid: false, invalidReason: RAW, success: false, errorReason: 'insufficient_funds' });
      case 'pending':
        return json(200, { success: false, errorReason: 'settlement_pending', errorMessage: RAW, transaction: '' });
    }
  });
  state.url = await loopback(t, server);
  return state;
}

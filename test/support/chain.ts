import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import {
  type Address,
  createNonceManager,
  createTestClient,
  defineChain,
  type Hex,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { jsonRpc } from 'viem/nonce';
import { NETWORKS } from '../../src/records/meter/offer.ts';
import { compiled } from './token/compile.ts';

const TOKEN = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address holder) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
]);

export const NETWORK = NETWORKS[1] as (typeof NETWORKS)[number];
export const ASSET = NETWORK.usdc.address as Address;

/** The chain's definition. viem also has it, but only in a module with every chain. */
export const CHAIN = defineChain({
  id: 84_532,
  name: 'Base Sepolia',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

/** The address of Multicall3 on every chain. */
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11';

/**
 * The path of anvil: the one that npm installs for Linux on x64, otherwise the one on the PATH; null without either.
 */
const ANVIL = fromNpm() ?? onPath();

/** The first account of anvil, which has ether and pays for gas. */
const RICH = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

/** Why tests that need a chain are skipped; false when they run. */
export const WITHOUT_CHAIN =
  ANVIL === null &&
  'needs anvil, which npm ci brings for Linux on x64; elsewhere install Foundry, so that anvil is on the PATH';

/** An EIP-3009 authorization to transfer money. */
export interface Authorization {
  from: Address;
  to: Address;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

export type LocalChain = Awaited<ReturnType<typeof startChain>>;
export type Payer = ReturnType<typeof privateKeyToAccount>;

interface Scope {
  after(work: () => unknown): void;
}

/**
 * Starts a local chain that identifies as Base Sepolia, with a test dollar at the address of USDC. It stops when the
 * test ends.
 */
export async function startChain(t: Scope) {
  if (ANVIL === null) throw new Error(`there is no chain on this machine: it ${WITHOUT_CHAIN}`);
  const args = ['--port', '0', '--chain-id', String(CHAIN.id), '--accounts', '1', '--no-request-size-limit'];
  const child = spawn(ANVIL, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = await addressOf(child.stdout);
  // Several transactions may be in flight. viem's default nonce manager counts across all chains of a process.
  const account = privateKeyToAccount(RICH, { nonceManager: createNonceManager({ source: jsonRpc() }) });
  const node = createTestClient({
    mode: 'anvil',
    account,
    chain: CHAIN,
    transport: http(url, { retryCount: 0 }),
    pollingInterval: 10,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
  const { dollar, several } = compiled();
  await node.setCode({ address: ASSET, bytecode: dollar });
  await node.setCode({ address: MULTICALL, bytecode: several });

  const send = async (call: { functionName: string; args: readonly unknown[] }): Promise<Hex> => {
    const hash = await node.writeContract({ address: ASSET, abi: TOKEN, ...call } as never);
    await node.waitForTransactionReceipt({ hash });
    return hash;
  };
  return {
    url,
    node,
    /** Creates an account with this many millionths of a dollar. */
    async payer(balance = 1_000_000, key: Hex = generatePrivateKey()): Promise<Payer> {
      const payer = privateKeyToAccount(key);
      if (balance > 0) await send({ functionName: 'mint', args: [payer.address, BigInt(balance)] });
      return payer;
    },
    async balance(of: string): Promise<number> {
      const args = [of as Address] as const;
      return Number(await node.readContract({ address: ASSET, abi: TOKEN, functionName: 'balanceOf', args }));
    },
    used({ from, nonce }: Authorization): Promise<boolean> {
      return node.readContract({ address: ASSET, abi: TOKEN, functionName: 'authorizationState', args: [from, nonce] });
    },
    /** Executes an authorization, as anyone who saw it may. */
    carryOut({ from, to, value, validAfter, validBefore, nonce }: Authorization, signature: Hex): Promise<Hex> {
      const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature];
      return send({ functionName: 'transferWithAuthorization', args });
    },
    /** Cancels an authorization on behalf of its payer. */
    async cancel(payer: Payer, nonce: Hex): Promise<Hex> {
      const signature = await payer.signTypedData({
        domain: DOMAIN,
        types: { CancelAuthorization: [...typed('address authorizer'), ...typed('bytes32 nonce')] },
        primaryType: 'CancelAuthorization',
        message: { authorizer: payer.address, nonce },
      });
      return send({ functionName: 'cancelAuthorization', args: [payer.address, nonce, signature] });
    },
  };
}

export const DOMAIN = { name: 'USDC', version: '2', chainId: CHAIN.id, verifyingContract: ASSET } as const;

/** A payer's signature of an authorization. */
export function sign(payer: Payer, authorization: Authorization): Promise<Hex> {
  const { value, validAfter, validBefore } = authorization;
  return payer.signTypedData({
    domain: DOMAIN,
    types: {
      TransferWithAuthorization: [
        ...typed('address from', 'address to', 'uint256 value', 'uint256 validAfter', 'uint256 validBefore'),
        ...typed('bytes32 nonce'),
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  });
}

function typed(...fields: string[]): { name: string; type: string }[] {
  return fields.map((field) => {
    const [type = '', name = ''] = field.split(' ');
    return { name, type };
  });
}

function fromNpm(): string | null {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  } catch {
    return null;
  }
}

function onPath(): string | null {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'anvil'));
  return files.find((file) => existsSync(file)) ?? null;
}

async function addressOf(stdout: AsyncIterable<Buffer>): Promise<string> {
  let said = '';
  for await (const chunk of stdout) {
    said += chunk;
    const address = /Listening on (\S+)/.exec(said)?.[1];
    if (address !== undefined) return `http://${address}`;
  }
  throw new Error('the chain ended before it listened');
}

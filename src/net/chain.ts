import type { PublicClient } from 'viem';
import { createPublicClient, http, isAddressEqual, parseAbi, parseEventLogs } from 'viem';
import type { Offer } from '../meter/offer.ts';
import type { Payment } from '../meter/payment.ts';
import type { Chain, ChainStatus } from '../meter/purchase.ts';

/** How long a node may take for one answer, in ms. */
const NODE_WAIT = 5_000;
/** How often a transfer that should be there is looked for, and how long apart, in ms. */
const LOOKS = 12;
const BETWEEN = 400;
/** How far back a transfer is looked for: blocks for one question, and questions. On Base that is a day. */
const BLOCKS = 2_000n;
const QUESTIONS = 22;

/** What EIP-3009 tokens have. */
const TOKEN = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** What a payer signs (EIP-3009, as EIP-712 types). */
const SIGNED = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

type Hex = `0x${string}`;

/** What is asked of the chain: whose authorization, and whom it pays how much. */
interface Sought {
  token: Hex;
  payer: Hex;
  payee: Hex;
  nonce: Hex;
  value: bigint;
}

/** The chain, as a node tells of it. */
export function openChain(url: string): Chain {
  const node = createPublicClient({ transport: http(url, { timeout: NODE_WAIT, retryCount: 0 }) });
  return {
    async look(payment, { asset }, { patient, told } = { patient: false, told: null }) {
      const sought = soughtIn(payment, asset.address as Hex);
      const until = BigInt(payment.transfer.authorization.validBefore);
      let sight: ChainStatus = 'unseen';
      for (let looks = 1; ; looks++) {
        if (told !== null && (await isIn(node, sought, told as Hex).catch(() => false))) return { paid: told };
        sight = await lookOnce(node, sought, until).catch(() => 'unseen' as const);
        if (!patient || looks === LOOKS || typeof sight === 'object') return sight;
        await new Promise((resolve) => setTimeout(resolve, BETWEEN));
      }
    },
    isSigned: (payment, offer) => node.verifyTypedData(typedDataOf(payment, offer)).catch(() => null),
  };
}

function typedDataOf({ transfer: { authorization, signature } }: Payment, { asset, network }: Offer) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version, address } = asset;
  const chainId = Number(network.caip2.split(':')[1]);
  return {
    address: from as Hex,
    signature: signature as Hex,
    domain: { name, version, chainId, verifyingContract: address as Hex },
    types: SIGNED,
    primaryType: 'TransferWithAuthorization' as const,
    message: {
      from: from as Hex,
      to: to as Hex,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex,
    },
  };
}

function soughtIn({ transfer: { authorization } }: Payment, token: Hex): Sought {
  const { from, to, nonce, value } = authorization;
  return { token, payer: from as Hex, payee: to as Hex, nonce: nonce as Hex, value: BigInt(value) };
}

async function lookOnce(node: PublicClient, sought: Sought, until: bigint): Promise<ChainStatus> {
  const { token, payer, nonce } = sought;
  // Time and state are of one block, so that "past its time and not used" is final.
  const { number, timestamp } = await node.getBlock();
  const used = await node.readContract({
    address: token,
    abi: TOKEN,
    functionName: 'authorizationState',
    args: [payer, nonce],
    blockNumber: number,
  });
  if (!used) return timestamp >= until ? { void: 'expired' } : 'open';
  for (let asked = 0, to = number; asked < QUESTIONS; asked++) {
    const from = to >= BLOCKS ? to - BLOCKS + 1n : 0n;
    const [log] = await node.getContractEvents({
      address: token,
      abi: TOKEN,
      eventName: 'AuthorizationUsed',
      args: { authorizer: payer, nonce },
      fromBlock: from,
      toBlock: to,
    });
    if (log !== undefined) {
      return (await isIn(node, sought, log.transactionHash)) ? { paid: log.transactionHash } : ALREADY_SPENT;
    }
    if (from === 0n) return ALREADY_SPENT;
    to = from - 1n;
  }
  return 'unseen';
}

/** Used without an event is cancelled. */
const ALREADY_SPENT: ChainStatus = { void: 'already_spent' };

/**
 * Whether a transaction used the authorization for the transfer that is sought.
 * A token tells of the two one after the other; a transfer elsewhere in the
 * same transaction is of another authorization.
 */
async function isIn(node: PublicClient, { token, payer, payee, nonce, value }: Sought, hash: Hex): Promise<boolean> {
  const receipt = await node.getTransactionReceipt({ hash });
  if (receipt.status !== 'success') return false;
  const logs = parseEventLogs({
    abi: TOKEN,
    logs: receipt.logs.filter(({ address }) => isAddressEqual(address, token)),
  });
  const used = logs.find(
    (log) =>
      log.eventName === 'AuthorizationUsed' && isAddressEqual(log.args.authorizer, payer) && log.args.nonce === nonce,
  );
  const next = logs.find(({ logIndex }) => used !== undefined && logIndex === used.logIndex + 1);
  if (next?.eventName !== 'Transfer') return false;
  const { from, to, value: moved } = next.args;
  return isAddressEqual(from, payer) && isAddressEqual(to, payee) && moved === value;
}

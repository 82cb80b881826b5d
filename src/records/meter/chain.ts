import * as z from 'zod';
import { type ChainNode, chainNode, NodeError } from './chain-node.ts';
import type { Offer } from './offer.ts';
import type { Payment } from './payment.ts';
import type { Chain, ChainStatus } from './purchase.ts';
import {
  bytesArgument,
  hex,
  keccak,
  selector,
  signatureForContract,
  signerOf,
  transferDigest,
  word,
} from './transfer-signature.ts';

/** How many times to poll for an expected transfer, and the interval, in ms. */
const POLLS = 12;
const POLL_EVERY = 400;
/** How far back to search for a transfer: blocks per request, and requests. On Base this covers a day. */
const BLOCKS = 2_000n;
const RANGES = 22;

/** The function and events of EIP-3009 tokens. */
const AUTHORIZATION_STATE = selector('authorizationState(address,bytes32)');
const AUTHORIZATION_USED = hex(keccak('AuthorizationUsed(address,bytes32)'));
const TRANSFER = hex(keccak('Transfer(address,address,uint256)'));
/** The function of contract wallets (EIP-1271), and the value that it returns for a valid signature. */
const IS_VALID_SIGNATURE = selector('isValidSignature(bytes32,bytes)');
const VALID = hex(IS_VALID_SIGNATURE).padEnd(66, '0');

/** A node's hex values; quantities have no leading zeros. */
const Hex = z
  .string()
  .regex(/^0x(?:[0-9a-fA-F]{2})*$/)
  .toLowerCase();
const Hash = Hex.length(66);
const Quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,16}$/)
  .transform(BigInt);
const Block = z.object({ number: Quantity, timestamp: Quantity });
const Truth = z.enum([hex(word(0n)), hex(word(1n))]).transform((text) => text.endsWith('1'));
const Log = z.object({ address: Hex, topics: z.array(Hash), data: Hex });
const FoundLogs = z.array(Log.extend({ transactionHash: Hash }));
const Receipt = z.object({ status: Quantity, logs: z.array(Log.extend({ logIndex: Quantity })) });

/** The transfer to search for. */
interface Sought {
  token: string;
  payer: string;
  payee: string;
  nonce: string;
  value: bigint;
}

/** A client of the chain that uses one node. `wait` is the timeout of one response, in ms. */
export function chainClient(url: string, wait?: number): Chain {
  const node = chainNode(url, wait);
  return {
    async status(payment, { asset }, { poll, reported } = { poll: false, reported: null }) {
      const sought = soughtIn(payment, asset.address);
      const until = BigInt(payment.transfer.authorization.validBefore);
      let status: ChainStatus = 'unseen';
      for (let polls = 1; ; polls++) {
        if (reported !== null && (await isIn(node, sought, reported).catch(() => false))) return { paid: reported };
        status = await readStatus(node, sought, until).catch(() => 'unseen' as const);
        if (!poll || polls === POLLS || typeof status === 'object') return status;
        await new Promise((resolve) => setTimeout(resolve, POLL_EVERY));
      }
    },
    isSigned: (payment, offer) => isSigned(node, payment, offer).catch(() => null),
  };
}

/**
 * Verifies a signature as the token itself does: by the payer's key, or by its contract. Throws when the node fails.
 */
async function isSigned(node: ChainNode, payment: Payment, offer: Offer): Promise<boolean> {
  const { signature, authorization } = payment.transfer;
  const digest = transferDigest(payment, offer);
  if (signerOf(digest, signature) === authorization.from) return true;
  const args = [digest, word(64n), bytesArgument(signatureForContract(signature))];
  const call = { to: authorization.from, data: hex(IS_VALID_SIGNATURE, ...args) };
  try {
    // Without a contract at the address, the response is empty.
    return (await node.ask('eth_call', [call, 'latest'], Hex)) === VALID;
  } catch (error) {
    if (error instanceof NodeError && error.isRevert) return false;
    throw error;
  }
}

function soughtIn({ transfer: { authorization } }: Payment, token: string): Sought {
  const { from: payer, to: payee, nonce, value } = authorization;
  return { token, payer, payee, nonce, value: BigInt(value) };
}

async function readStatus(node: ChainNode, sought: Sought, until: bigint): Promise<ChainStatus> {
  const { token, payer, nonce } = sought;
  // Time and state come from the same block, so that "expired and not used" is final.
  const { number, timestamp } = await node.ask('eth_getBlockByNumber', ['latest', false], Block);
  const call = { to: token, data: hex(AUTHORIZATION_STATE, word(payer), word(nonce)) };
  const used = await node.ask('eth_call', [call, quantity(number)], Truth);
  if (!used) return timestamp >= until ? { void: 'expired' } : 'open';
  const topics = usedTopics(sought);
  for (let range = 0, to = number; range < RANGES; range++) {
    const from = to >= BLOCKS ? to - BLOCKS + 1n : 0n;
    const filter = { address: token, topics, fromBlock: quantity(from), toBlock: quantity(to) };
    const logs = await node.ask('eth_getLogs', [filter], FoundLogs);
    if (!logs.every((found) => isOf(found, token, topics))) throw new Error('the node answered with other logs');
    const [log] = logs;
    if (log !== undefined) {
      return (await isIn(node, sought, log.transactionHash)) ? { paid: log.transactionHash } : ALREADY_SPENT;
    }
    if (from === 0n) return ALREADY_SPENT;
    to = from - 1n;
  }
  return 'unseen';
}

/** A nonce that was used without an event was cancelled. */
const ALREADY_SPENT: ChainStatus = { void: 'already_spent' };

/**
 * Whether a transaction used the authorization for the transfer. The token logs the two events consecutively; a
 * transfer elsewhere in the transaction belongs to another authorization.
 */
async function isIn(node: ChainNode, sought: Sought, hash: string): Promise<boolean> {
  const { token, payer, payee, value } = sought;
  const { status, logs } = await node.ask('eth_getTransactionReceipt', [hash], Receipt);
  if (status !== 1n) return false;
  const used = logs.find((log) => isOf(log, token, usedTopics(sought)));
  const next = logs.find(({ logIndex }) => used !== undefined && logIndex === used.logIndex + 1n);
  if (next === undefined || !isOf(next, token, [TRANSFER, hex(word(payer)), hex(word(payee))])) return false;
  return next.data === hex(word(value));
}

function usedTopics({ payer, nonce }: Sought): string[] {
  return [AUTHORIZATION_USED, hex(word(payer)), nonce];
}

function isOf({ address, topics: found }: z.infer<typeof Log>, token: string, topics: readonly string[]): boolean {
  return address === token && found.length === topics.length && topics.every((topic, index) => topic === found[index]);
}

function quantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}

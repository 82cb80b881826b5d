import { keccak_256 } from '@noble/hashes/sha3.js';
import { recoverPublicKey } from '@noble/secp256k1';
import type { Offer } from './offer.ts';
import type { Payment } from './payment.ts';

const DOMAIN = keccak('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
/** The type hash of what a payer signs (EIP-3009). */
const TRANSFER = keccak(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
);
/** The last word of a signature that includes its wallet's deployment (ERC-6492). */
const ERC_6492_MAGIC = Buffer.from('6492'.repeat(16), 'hex');

/** The 32 bytes that a payer signs (EIP-712). Throws a RangeError for a number above 256 bits. */
export function transferDigest({ transfer: { authorization } }: Payment, { asset, network }: Offer): Buffer {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const [, chainId = ''] = network.caip2.split(':');
  const domain = keccak(DOMAIN, keccak(asset.name), keccak(asset.version), word(chainId), word(asset.address));
  const message = [from, to, value, validAfter, validBefore, nonce].map(word);
  return keccak(Uint8Array.of(0x19, 0x01), domain, keccak(TRANSFER, ...message));
}

/** The address, in lower case, whose key made a 65-byte signature (r, s, v); null for any other signature. */
export function signerOf(digest: Uint8Array, signature: string): string | null {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const v = bytes[64] ?? -1;
  const recovery = v >= 27 ? v - 27 : v;
  if (bytes.length !== 65 || (recovery !== 0 && recovery !== 1)) return null;
  try {
    const recovered = Buffer.concat([Uint8Array.of(recovery), bytes.subarray(0, 64)]);
    const key = recoverPublicKey(recovered, digest, { prehash: false, isCompressed: false });
    return hex(keccak(key.subarray(1)).subarray(12));
  } catch {
    return null;
  }
}

/** The bytes that a contract checks, without the wrapper for undeployed wallets (ERC-6492). */
export function signatureForContract(signature: string): Buffer {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const isWrapped = bytes.subarray(-ERC_6492_MAGIC.length).equals(ERC_6492_MAGIC);
  // (address factory, bytes calldata, bytes signature)
  return (isWrapped ? readBytesArgument(bytes.subarray(0, -ERC_6492_MAGIC.length), 2) : null) ?? bytes;
}

const WORD = 32;

/** Keccak-256, Ethereum's hash, of the concatenated parts. */
export function keccak(...parts: readonly (Uint8Array | string)[]): Buffer {
  return Buffer.from(keccak_256(Buffer.concat(parts.map((part) => Buffer.from(part)))));
}

/** A number, or hex after `0x`, as a word of 32 bytes (Solidity ABI). Throws a RangeError above 256 bits. */
export function word(value: bigint | string): Buffer {
  const number = BigInt(value);
  if (BigInt.asUintN(8 * WORD, number) !== number) throw new RangeError('the number does not fit into 256 bits');
  return Buffer.from(number.toString(16).padStart(2 * WORD, '0'), 'hex');
}

/** A function's selector: the first four bytes of its signature's hash. */
export function selector(signature: string): Buffer {
  return keccak(signature).subarray(0, 4);
}

/** A dynamic `bytes` argument: its length, then the bytes padded to a full word. */
export function bytesArgument(bytes: Uint8Array): Buffer {
  const padding = Buffer.alloc((WORD - (bytes.length % WORD)) % WORD);
  return Buffer.concat([word(BigInt(bytes.length)), bytes, padding]);
}

/** Decodes the dynamic `bytes` argument at an index; null when the data is malformed. */
export function readBytesArgument(data: Uint8Array, index: number): Buffer | null {
  const buffer = Buffer.from(data);
  const number = (at: number): number => {
    const digits = buffer.subarray(at, at + WORD).toString('hex');
    return digits.length === 2 * WORD ? Number(BigInt(`0x${digits}`)) : Number.NaN;
  };
  const start = number(index * WORD);
  const end = start + WORD + number(start);
  return end <= buffer.length ? buffer.subarray(start + WORD, end) : null;
}

export function hex(...parts: readonly Uint8Array[]): string {
  return `0x${Buffer.concat(parts).toString('hex')}`;
}

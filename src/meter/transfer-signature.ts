import { recoverPublicKey } from '@noble/secp256k1';
import { hex, keccak, readBytesArgument, word } from './abi.ts';
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

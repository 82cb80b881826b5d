import { keccak_256 } from '@noble/hashes/sha3.js';

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
export function readBytesArgument(data: Uint8Array, place: number): Buffer | null {
  const buffer = Buffer.from(data);
  const number = (at: number): number => {
    const digits = buffer.subarray(at, at + WORD).toString('hex');
    return digits.length === 2 * WORD ? Number(BigInt(`0x${digits}`)) : Number.NaN;
  };
  const start = number(place * WORD);
  const end = start + WORD + number(start);
  return end <= buffer.length ? buffer.subarray(start + WORD, end) : null;
}

export function hex(...parts: readonly Uint8Array[]): string {
  return `0x${Buffer.concat(parts).toString('hex')}`;
}

import { joined } from '../bytes.ts';
import type { Checkpoint } from './checkpoint.ts';

/** The message that a cosignature signs (C2SP tlog-cosignature, protocol 7.6). */

const U64 = 8;
/** The latest time that a Date can hold: seconds from 1970 to the year 275760 (ECMA-262, section 21.4.1.1). */
const TIME_MAX = 8_640_000_000_000n;

/** A cosignature's blob after its key hash. */
export interface TimestampedSignature {
  /** In seconds since 1970. */
  time: number;
  signature: Uint8Array;
}

/** Parses a blob; null when its signature does not have this many bytes, or its time is out of range for a Date. */
export function timestampedSignature(blob: Uint8Array, signatureLength: number): TimestampedSignature | null {
  if (blob.length !== U64 + signatureLength) return null;
  const time = statedTime(blob);
  return time > TIME_MAX ? null : { time: Number(time), signature: blob.subarray(U64) };
}

/** The time with which a blob begins, in seconds since 1970, not verified. */
export function statedTime(blob: Uint8Array): bigint {
  return new DataView(blob.buffer, blob.byteOffset).getBigUint64(0);
}

/** The message of an Ed25519 cosignature over a checkpoint's text. */
export function cosignatureMessage(time: number, checkpoint: string): Uint8Array<ArrayBuffer> {
  return joined(`cosignature/v1\ntime ${time}\n${checkpoint}`);
}

/**
 * The message of an ML-DSA-44 cosignature: a `cosigned_message` of the whole tree. Throws a RangeError when a name is
 * too long.
 */
export function treeMessage(
  cosigner: string,
  time: number,
  { origin, size, root }: Checkpoint,
): Uint8Array<ArrayBuffer> {
  return joined('subtree/v1\n\0', opaque(cosigner), u64(time), opaque(origin), u64(0), u64(size), root);
}

/** `opaque name<1..2^8-1>` of RFC 8446, section 3.4. */
function opaque(text: string): Uint8Array {
  const bytes = joined(text);
  if (bytes.length < 1 || bytes.length > 255) throw new RangeError(`a name of ${bytes.length} bytes; 255 are the most`);
  return joined(Uint8Array.of(bytes.length), bytes);
}

function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(U64);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

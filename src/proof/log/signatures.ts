import { joined, toHex } from '../bytes.ts';
import { ED25519, keyHashInput, type VerifierKey, vkeyFields } from '../key-text.ts';
import { claimedBy } from '../note.ts';
import type { Checkpoint, SignedCheckpoint } from './checkpoint.ts';
import { NAME_MAX } from './fields.ts';
import { LogFault, shown } from './log-fault.ts';

/** Verifies one signature; false for bytes that are not a signature of this kind. */
type VerifySignature = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean | Promise<boolean>;

/** The cryptography for verifying a log, from Node or from a browser. Either may be synchronous or asynchronous. */
export interface LogCrypto {
  sha256(data: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
  /** Ed25519 by the strict rules of RFC 8032. */
  ed25519: VerifySignature;
  /** ML-DSA-44 with an empty context (FIPS 204); null if the platform does not support it. */
  mldsa44: VerifySignature | null;
}

/** The signature type of a timestamped Ed25519 cosignature. */
export const COSIGNATURE = 0x04;
/** The signature type of a timestamped ML-DSA-44 cosignature. */
export const ML_DSA_COSIGNATURE = 0x06;

export const ML_DSA_44_PUBLIC_KEY_LENGTH = 1_312;

/** The name of each type, and the length of its public key in bytes. */
const TYPES = new Map([
  [ED25519, { is: 'a plain Ed25519 key', length: 32 }],
  [COSIGNATURE, { is: 'an Ed25519 cosignature key', length: 32 }],
  [ML_DSA_COSIGNATURE, { is: 'an ML-DSA-44 cosignature key', length: ML_DSA_44_PUBLIC_KEY_LENGTH }],
]);

/** Types with which a log signs its checkpoints (tlog-checkpoint), and a witness cosigns (tlog-cosignature). */
export const LOG_TYPES: readonly number[] = [ED25519, ML_DSA_COSIGNATURE];
export const WITNESS_TYPES: readonly number[] = [COSIGNATURE, ML_DSA_COSIGNATURE];

/** Parses a verifier key of one of these types. The caller must check the key hash. Throws a LogFault. */
export function readVerifierKey(text: string, types: readonly number[]): VerifierKey {
  const key = vkeyFields(text);
  if (key === null) throw new LogFault(`${shown(text)} is not a verifier key: NAME+HASH+BASE64`);
  const wanted = types.map((type) => `0x0${type}`).join(' or ');
  const type = TYPES.get(key.type);
  if (type === undefined || !types.includes(key.type)) {
    const given = type?.is ?? `a key of type 0x${key.type.toString(16).padStart(2, '0')}`;
    throw new LogFault(`the key of ${shown(key.name)} is ${given}; it must be of type ${wanted}`);
  }
  if (new TextEncoder().encode(key.name).length > NAME_MAX) {
    throw new LogFault(`the key name ${shown(key.name)} is longer than ${NAME_MAX} bytes`);
  }
  if (key.publicKey.length !== type.length) {
    const message = `the key of ${shown(key.name)} has ${key.publicKey.length} bytes; ${type.is} has ${type.length}`;
    throw new LogFault(message);
  }
  return key;
}

/** Throws a LogFault unless the key's stated hash is the hash of its bytes. */
export function requireKeyHash({ name, hash }: VerifierKey, bytes: Uint8Array): void {
  const has = toHex(bytes);
  if (has === hash) return;
  throw new LogFault(`the verifier key of ${shown(name)} says key hash ${hash}, but its bytes have ${has}`);
}

const ED25519_SIGNATURE_LENGTH = 64;
const ML_DSA_44_SIGNATURE_LENGTH = 2_420;

/** The result of checking a checkpoint's lines against one key. */
export type Signed =
  | { by: 'nobody' }
  /** The platform cannot verify signatures of this type. */
  | { by: 'unchecked' }
  /** In seconds since 1970; null for a plain signature, which has no time. The earliest, if there are several lines. */
  | { by: 'key'; time: number | null };

/**
 * Verifies every line of a checkpoint that claims to be by this key. Throws a LogFault when one of them is invalid,
 * because a note with an invalid signature by a known key is invalid (signed-note), and when the key hash does not
 * match the key.
 */
export async function signedBy(checkpoint: SignedCheckpoint, key: VerifierKey, crypto: LogCrypto): Promise<Signed> {
  const { name, type, publicKey } = key;
  const keyHash = (await crypto.sha256(keyHashInput(name, publicKey, type))).subarray(0, 4);
  requireKeyHash(key, keyHash);
  const claims = claimedBy(checkpoint.note.signatures, name, keyHash);
  if (claims.length === 0) return { by: 'nobody' };
  const verify = type === ML_DSA_COSIGNATURE ? crypto.mldsa44 : crypto.ed25519;
  if (verify === null) return { by: 'unchecked' };
  const times: number[] = [];
  for (const blob of claims) {
    const claim = claimOf(checkpoint, key, blob);
    if (claim === null || !(await verify(claim.signature, claim.message, publicKey))) {
      throw new LogFault(`the checkpoint has a wrong signature by ${shown(name)}`);
    }
    if (claim.time !== null) times.push(claim.time);
  }
  return { by: 'key', time: times.length === 0 ? null : Math.min(...times) };
}

/** The signed message and time that a signature blob claims; null when the blob is malformed for the key's type. */
function claimOf(
  checkpoint: SignedCheckpoint,
  { name, type }: VerifierKey,
  blob: Uint8Array,
): { message: Uint8Array; signature: Uint8Array; time: number | null } | null {
  const { text } = checkpoint.note;
  if (type === ED25519) {
    return blob.length === ED25519_SIGNATURE_LENGTH ? { message: joined(text), signature: blob, time: null } : null;
  }
  const length = type === COSIGNATURE ? ED25519_SIGNATURE_LENGTH : ML_DSA_44_SIGNATURE_LENGTH;
  if (blob.length !== U64 + length || statedTime(blob) > TIME_MAX) return null;
  const time = Number(statedTime(blob));
  const message = type === COSIGNATURE ? cosignatureMessage(time, text) : treeMessage(name, time, checkpoint);
  return { message, signature: blob.subarray(U64), time };
}

/** The message that a cosignature signs (C2SP tlog-cosignature, protocol 7.6). */

const U64 = 8;
/** The latest time that a Date can hold: seconds from 1970 to the year 275760 (ECMA-262, section 21.4.1.1). */
const TIME_MAX = 8_640_000_000_000n;

/** The unverified time at the beginning of a blob, in seconds since 1970. */
export function statedTime(blob: Uint8Array): bigint {
  return new DataView(blob.buffer, blob.byteOffset).getBigUint64(0);
}

/** The message of an Ed25519 cosignature over a checkpoint's text. */
export function cosignatureMessage(time: number, checkpoint: string): Uint8Array<ArrayBuffer> {
  return joined(`cosignature/v1\ntime ${time}\n${checkpoint}`);
}

/** The message of an ML-DSA-44 cosignature of the whole tree. Throws a RangeError when a name is too long. */
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

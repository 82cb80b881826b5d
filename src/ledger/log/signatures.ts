import { joined, toHex } from '../bytes.ts';
import { ED25519, keyHashInput, type VerifierKey } from '../key-text.ts';
import { claimedBy } from '../note.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { cosignatureMessage, timestampedSignature, treeMessage } from './cosignature.ts';
import type { LogCrypto } from './log-crypto.ts';
import { LogFault, shown } from './log-fault.ts';
import { COSIGNATURE, ML_DSA_COSIGNATURE } from './signature-type.ts';

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
  const { name, hash, type, publicKey } = key;
  const keyHash = (await crypto.sha256(keyHashInput(name, publicKey, type))).subarray(0, 4);
  if (toHex(keyHash) !== hash) {
    throw new LogFault(
      `the verifier key of ${shown(name)} says key hash ${hash}, but its bytes have ${toHex(keyHash)}`,
    );
  }
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

/** The signed message that a blob claims, by the key's type; null when the blob is malformed. */
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
  const stamped = timestampedSignature(blob, length);
  if (stamped === null) return null;
  const { time, signature } = stamped;
  const message = type === COSIGNATURE ? cosignatureMessage(time, text) : treeMessage(name, time, checkpoint);
  return { message, signature, time };
}

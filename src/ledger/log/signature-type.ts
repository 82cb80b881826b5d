import { ED25519, type VerifierKey, vkeyFields } from '../key-text.ts';
import { LogFault, shown } from './log-fault.ts';

/** The signature type of a timestamped Ed25519 cosignature. */
export const COSIGNATURE = 0x04;
/** The signature type of a timestamped ML-DSA-44 cosignature. */
export const ML_DSA_COSIGNATURE = 0x06;

export const ML_DSA_44_PUBLIC_KEY_LENGTH = 1_312;

/** Maximum length of a log's or a witness's name, in bytes: an ML-DSA-44 cosignature cannot hold a longer one. */
export const NAME_MAX = 255;

/** The name of each type, and the length of its public key in bytes. */
const TYPES = new Map([
  [ED25519, { is: 'a plain Ed25519 key', length: 32 }],
  [COSIGNATURE, { is: 'an Ed25519 cosignature key', length: 32 }],
  [ML_DSA_COSIGNATURE, { is: 'an ML-DSA-44 cosignature key', length: ML_DSA_44_PUBLIC_KEY_LENGTH }],
]);

/** Types with which a log signs its checkpoints (tlog-checkpoint), and a witness cosigns (tlog-cosignature). */
export const LOG_TYPES: readonly number[] = [ED25519, ML_DSA_COSIGNATURE];
export const WITNESS_TYPES: readonly number[] = [COSIGNATURE, ML_DSA_COSIGNATURE];

/**
 * Parses a verifier key of one of these types without hashing: the caller must check the key hash. Throws a LogFault.
 */
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
    throw new LogFault(
      `the key of ${shown(key.name)} has ${key.publicKey.length} bytes; ${type.is} has ${type.length}`,
    );
  }
  return key;
}

import { fromBase64, joined, toBase64, toBase64url } from './bytes.ts';
import { isObject } from './members.ts';
import type { Note } from './note.ts';
import { isoTime } from './time.ts';

/** Texts of a public key that are hashed or compared elsewhere. */

/** The signature type byte of a plain Ed25519 signature, as signed-note assigns it. */
export const ED25519 = 0x01;
const PUBLIC_KEY_LENGTH = 32;
/** The constant members of every key in a key document (RFC 8037). Old copies may lack them. */
const ED25519_JWK = { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' };
/** The maximum distance of a `Date` from 1970, in seconds (ECMA-262, section 21.4.1.1). */
const FARTHEST = 8_640_000_000_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The bytes whose SHA-256 begins with the key hash: name ‖ 0x0A ‖ signature type ‖ public key. */
export function keyHashInput(name: string, publicKey: Uint8Array, type: number = ED25519): Uint8Array<ArrayBuffer> {
  return joined(`${name}\n`, Uint8Array.of(type), publicKey);
}

/** The text whose SHA-256 is the key's thumbprint (RFC 7638 over the members of RFC 8037). */
export function thumbprintInput(publicKey: Uint8Array): string {
  return `{"crv":"Ed25519","kty":"OKP","x":"${toBase64url(publicKey)}"}`;
}

/** The fields of a verifier key text (C2SP signed-note). */
export interface VerifierKey {
  name: string;
  /** The stated key hash in hex; unchecked until it is compared with the hash of the bytes. */
  hash: string;
  /** The signature type byte of signed-note. */
  type: number;
  publicKey: Uint8Array;
}

/** A key as listed in a document, to be compared with the hashes of its bytes. */
interface KeyParts extends Omit<VerifierKey, 'type'>, SigningPeriod {
  /** The thumbprint that the key claims; undefined in an old copy, which lists only verifier keys. */
  kid: string | undefined;
}

/** Parses one key of a key document; null when it is malformed. The caller must check `hash` and `kid`. */
export function splitJwk(jwk: unknown): KeyParts | null {
  if (!isObject(jwk)) return null;
  const { vkey, kid, x, nbf = 0, retired_at = null, ...said } = jwk;
  if (Object.entries(ED25519_JWK).some(([name, value]) => said[name] !== undefined && said[name] !== value))
    return null;
  const parts = typeof vkey === 'string' ? splitVkey(vkey) : null;
  if (parts === null || (kid !== undefined && typeof kid !== 'string')) return null;
  if (x !== undefined && x !== toBase64url(parts.publicKey)) return null;
  if (typeof nbf !== 'number' || Math.abs(nbf) > FARTHEST) return null;
  // An unparsable date would never be reached.
  if (retired_at !== null && (typeof retired_at !== 'string' || !TIME.test(retired_at))) return null;
  const until = retired_at === null ? null : Date.parse(retired_at);
  // NumericDate is in seconds (RFC 7519, section 2).
  return Number.isNaN(until) ? null : { ...parts, kid, nbf: nbf * 1000, retired_at: until };
}

/** The text of a verifier key: `<name>+<hex key hash>+<base64 of signature type ‖ public key>`. */
export function vkeyText({ name, hash, type, publicKey }: VerifierKey): string {
  return `${name}+${hash}+${toBase64(joined(Uint8Array.of(type), publicKey))}`;
}

/** Parses the verifier key text of an Ed25519 key; null when it is malformed. The caller must check `hash`. */
export function splitVkey(text: string): Omit<VerifierKey, 'type'> | null {
  const key = vkeyFields(text);
  if (key?.type !== ED25519 || key.publicKey.length !== PUBLIC_KEY_LENGTH) return null;
  const { name, hash, publicKey } = key;
  return { name, hash, publicKey };
}

/** Parses a verifier key text of any signature type; null when it is malformed. */
export function vkeyFields(text: string): VerifierKey | null {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text);
  const [, name, hash, base64] = match ?? [];
  if (name === undefined || hash === undefined || base64 === undefined) return null;
  const bytes = fromBase64(base64);
  const type = bytes?.[0];
  return bytes === null || type === undefined ? null : { name, hash, type, publicKey: bytes.slice(1) };
}

/**
 * The key with a kid, under the name by which it signed a note, because a key is listed once per name. Null without
 * one.
 */
export function keyOfNote<Key extends { kid: string; name: string }>(
  keys: readonly Key[],
  kid: string | undefined,
  { signatures }: Pick<Note, 'signatures'>,
): Key | null {
  const own = keys.filter((key) => key.kid === kid);
  return own.find(({ name }) => signatures.some((line) => line.name === name)) ?? own[0] ?? null;
}

/** The period in which a key signs, in ms. */
export interface SigningPeriod {
  /** The key is not used before this time. */
  nbf: number;
  /** The key signs nothing from this time on; null while it is in use. */
  retired_at: number | null;
}

/**
 * The rule of every verifier (protocol 2.4): the time in a receipt lies within its key's period, `nbf` included and
 * `retired_at` excluded. A stolen retired key therefore cannot sign anything dated after its retirement. `what` begins
 * the message, as in `seq 3: observed`.
 */
export function signingPeriodFaults(what: string, iso: string, { nbf, retired_at }: SigningPeriod): string[] {
  const at = Date.parse(iso);
  if (retired_at !== null && at >= retired_at)
    return [`${what} at ${iso}, but its key was retired at ${isoTime(retired_at)}`];
  return at < nbf ? [`${what} at ${iso}, but its key was in use only from ${isoTime(nbf)}`] : [];
}

import { hash as digest } from 'node:crypto';
import { joined, toBase64url, toHex } from './bytes.ts';
import {
  ED25519,
  keyHashInput,
  type SigningPeriod,
  splitJwk,
  splitVkey,
  thumbprintInput,
  vkeyText,
} from './key-text.ts';
import { isObject } from './members.ts';
import { type Note, signaturesBy, type Verify } from './note.ts';
import { isoOrNull } from './time.ts';

/** A public signing key. The secret key never leaves the key file. */
export interface VerifyingKey extends SigningPeriod {
  /** RFC 7638 thumbprint. */
  kid: string;
  /** The name under which it signs notes, without spaces or plus signs. */
  name: string;
  publicKey: Uint8Array;
}

/** One key in `/.well-known/newsdesk-keys.json` (RFC 7517, RFC 8037); `nbf` is a NumericDate, in seconds. */
export type Jwk = ReturnType<typeof jwks>['keys'][number];

/** The thumbprint of an Ed25519 public key (RFC 7638 over the members of RFC 8037). */
export function thumbprint(publicKey: Uint8Array): string {
  return digest('sha256', thumbprintInput(publicKey), 'base64url');
}

/** The faults of a listed key; empty when the key is valid. */
export function keyFaults({ kid, name, publicKey }: Pick<VerifyingKey, 'kid' | 'name' | 'publicKey'>): string[] {
  const faults: string[] = [];
  if (thumbprint(publicKey) !== kid) faults.push(`key ${kid}: the kid is not the thumbprint of its public key`);
  if (parseVkey(vkey(name, publicKey)) === null)
    faults.push(`key ${kid}: its name or its length is not that of a signing key`);
  return faults;
}

/** The key document (protocol 2.3): every key, oldest first. Retired keys stay forever. */
export function jwks(keys: VerifyingKey[]) {
  return {
    keys: keys.map((key) => ({
      kty: 'OKP' as const,
      crv: 'Ed25519' as const,
      x: toBase64url(key.publicKey),
      kid: key.kid,
      use: 'sig' as const,
      alg: 'EdDSA' as const,
      vkey: vkey(key.name, key.publicKey),
      nbf: Math.floor(key.nbf / 1000),
      retired_at: isoOrNull(key.retired_at),
    })),
  };
}

/** The keys of a parsed key document. Omits those whose kid, key hash or `x` does not match their bytes. */
export function keysOf(document: unknown): VerifyingKey[] {
  const keys: unknown = isObject(document) ? document.keys : null;
  return (Array.isArray(keys) ? keys : []).flatMap((jwk: unknown) => {
    const parts = splitJwk(jwk);
    if (parts === null) return [];
    const { name, hash, publicKey, nbf, retired_at } = parts;
    const kid = thumbprint(publicKey);
    const isSound = toHex(keyHash(name, publicKey)) === hash && (parts.kid ?? kid) === kid;
    return isSound ? [{ kid, name, publicKey, nbf, retired_at }] : [];
  });
}

/** The first four bytes of SHA-256(name ‖ 0x0A ‖ signature type ‖ public key). */
export function keyHash(name: string, publicKey: Uint8Array, type?: number): Uint8Array {
  return digest('sha256', keyHashInput(name, publicKey, type), 'buffer').subarray(0, 4);
}

/** The verifier key text: `<name>+<hex key hash>+<base64 of 0x01 ‖ public key>`. */
export function vkey(name: string, publicKey: Uint8Array): string {
  return vkeyText({ name, hash: toHex(keyHash(name, publicKey)), type: ED25519, publicKey });
}

/** Parses a verifier key text; null when it is invalid. */
export function parseVkey(text: string): { name: string; publicKey: Uint8Array } | null {
  const parts = splitVkey(text);
  if (parts === null) return null;
  const { name, hash, publicKey } = parts;
  return toHex(keyHash(name, publicKey)) === hash ? { name, publicKey } : null;
}

/** Whether a line of the note is this key's valid signature over its text. */
export function isSignedBy(note: Note, key: { name: string; publicKey: Uint8Array }, verify: Verify): boolean {
  const message = joined(note.text);
  return signaturesBy(note, key.name, keyHash(key.name, key.publicKey)).some((signature) =>
    verify(signature, message, key.publicKey),
  );
}

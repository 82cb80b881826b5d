import { createHash } from 'node:crypto';
import { membersIn } from '../narrow.ts';
import { isoOrNull } from '../time.ts';
import { toBase64url } from './bytes.ts';
import { splitJwk, thumbprintInput, vkeyText } from './key-text.ts';
import { parseVkey, vkey } from './verifier-key.ts';

/** A public signing key. The secret key never leaves the key file. */
export interface VerifyingKey {
  /** RFC 7638 thumbprint. */
  kid: string;
  /** The name under which it signs notes, without spaces or plus signs. */
  name: string;
  publicKey: Uint8Array;
  /** In ms: the key is not used before this time. */
  nbf: number;
  /** In ms; null while the key is in use. */
  retired_at: number | null;
}

/** One key as `/.well-known/newsdesk-keys.json` shows it (RFC 7517, RFC 8037). */
export interface Jwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  vkey: string;
  /** NumericDate, in seconds. */
  nbf: number;
  /** ISO 8601; null while the key is in use. */
  retired_at: string | null;
}

/** The thumbprint of an Ed25519 public key (RFC 7638 over the members of RFC 8037). */
export function thumbprint(publicKey: Uint8Array): string {
  return createHash('sha256').update(thumbprintInput(publicKey)).digest('base64url');
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
export function jwks(keys: VerifyingKey[]): { keys: Jwk[] } {
  return {
    keys: keys.map((key) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: toBase64url(key.publicKey),
      kid: key.kid,
      use: 'sig',
      alg: 'EdDSA',
      vkey: vkey(key.name, key.publicKey),
      nbf: Math.floor(key.nbf / 1000),
      retired_at: isoOrNull(key.retired_at),
    })),
  };
}

/**
 * The keys of a parsed key document, with their times. Omits keys whose kid, key hash or `x` does not match their
 * bytes.
 */
export function keysOf(document: unknown): VerifyingKey[] {
  const { keys } = membersIn(document);
  return (Array.isArray(keys) ? keys : []).flatMap((jwk) => {
    const parts = splitJwk(jwk);
    if (parts === null) return [];
    const { name, hash, publicKey, nbf, retired_at } = parts;
    const kid = thumbprint(publicKey);
    const isSound = parseVkey(vkeyText(name, hash, publicKey)) !== null && (parts.kid ?? kid) === kid;
    return isSound ? [{ kid, name, publicKey, nbf, retired_at }] : [];
  });
}

import { verifyAsync } from '@noble/ed25519';
import canonicalize from 'canonicalize';
import { joined, toBase64url, toHex } from '../../../proof/bytes.ts';
import type { CheckedReceipt } from '../../../proof/chain.ts';
import { type TimeCorrection, trueIso } from '../../../proof/clock-note.ts';
import { keyHashInput, keyOfNote, splitJwk, thumbprintInput } from '../../../proof/key-text.ts';
import { membersIn } from '../../../proof/narrow.ts';
import { type Note, parseNote, signaturesBy } from '../../../proof/note.ts';
import { isPrimeOrder } from '../../../proof/prime-order.ts';

/** The browser's counterpart of the ledger's node:crypto code, using WebCrypto and noble. */

/** A key of the paper's key document. */
export interface ListedKey {
  kid: string;
  name: string;
  publicKey: Uint8Array;
  keyHash: Uint8Array;
  /** Ms; the key is not used before this time. */
  nbf: number;
  /** Ms; null while the key is in use. */
  retired_at: number | null;
}

/** SHA-256 of bytes, or of a text in UTF-8. */
export async function digest(data: string | Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(data)));
}

/** `sha256:<hex>` of a text in UTF-8. */
export async function sha256(text: string): Promise<string> {
  return `sha256:${toHex(await digest(text))}`;
}

/** `sha256:<hex>` of a JSON value's canonical form (RFC 8785); null when it has none. */
export async function contentHash(value: unknown): Promise<string | null> {
  try {
    const canonical = canonicalize(value);
    return canonical === undefined ? null : await sha256(canonical);
  } catch {
    return null;
  }
}

/**
 * The keys of a key document; null when it is not a key document. Omits keys whose kid, key hash or `x` does not
 * match their bytes.
 */
export async function keysIn(document: unknown): Promise<ListedKey[] | null> {
  const { keys } = membersIn(document);
  if (!Array.isArray(keys)) return null;
  const read = await Promise.all(keys.map(readKey));
  return read.filter((key) => key !== null);
}

async function readKey(jwk: unknown): Promise<ListedKey | null> {
  const parts = splitJwk(jwk);
  if (parts === null) return null;
  const { name, hash, publicKey, nbf, retired_at } = parts;
  const keyHash = (await digest(keyHashInput(name, publicKey))).subarray(0, 4);
  const kid = toBase64url(await digest(thumbprintInput(publicKey)));
  const isSound = toHex(keyHash) === hash && (parts.kid ?? kid) === kid;
  return isSound ? { kid, name, publicKey, keyHash, nbf, retired_at } : null;
}

/** Whether a line of the note is this key's signature of its text, by the strict rules of RFC 8032. */
export async function signedBy(note: Note, { name, keyHash, publicKey }: ListedKey): Promise<boolean> {
  const message = joined(note.text);
  for (const signature of signaturesBy(note, name, keyHash)) {
    if (await ed25519Holds(signature, message, publicKey)) return true;
  }
  return false;
}

/**
 * Reads a receipt with `parse`, hashes its signed text and verifies its signature. `dated` gives the receipt's time,
 * which a correction of the clock may replace.
 */
export async function readReceipt<Receipt extends { kid: string; seq: number }>(
  text: string,
  { parse, dated }: { parse: (signed: string) => Receipt | null; dated: (receipt: Receipt) => string },
  keys: ListedKey[],
  corrections: readonly TimeCorrection[],
): Promise<Omit<CheckedReceipt, 'receipt'> & { receipt: Receipt | null }> {
  const note = parseNote(text);
  const receipt = note === null ? null : parse(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null, time: '' };
  const key = keyOfNote(keys, receipt.kid, note);
  const signature = key === null ? 'no_such_key' : (await signedBy(note, key)) ? 'holds' : 'fails';
  const time = trueIso(dated(receipt), receipt.seq, corrections);
  return { receipt, hash: await sha256(note.text), signature, key, time };
}

/** Whether an Ed25519 signature holds, by the strict rules of RFC 8032; false for malformed bytes. */
export async function ed25519Holds(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): Promise<boolean> {
  if (!isPrimeOrder(publicKey) || !isPrimeOrder(signature.subarray(0, 32))) return false;
  // noble throws when the bytes are not a signature at all.
  return verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false);
}

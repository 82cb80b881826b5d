import { createHash } from 'node:crypto';

/**
 * Signed notes (C2SP signed-note): a text that ends in a newline, an empty
 * line, and signature lines. Observations of the records service use them too.
 */

/** An Ed25519 signature algorithm byte, as signed-note assigns it. */
const ED25519 = 0x01;
const SIGNATURE_LENGTH = 64;
const PUBLIC_KEY_LENGTH = 32;

/** Someone who can sign notes under a name. */
export interface Signer {
  name: string;
  publicKey: Uint8Array;
  /** Signs the bytes with Ed25519 (RFC 8032); 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** Checks an Ed25519 signature by the strict rules of RFC 8032. */
export type Verify = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

export interface SignatureLine {
  name: string;
  keyHash: Uint8Array;
  signature: Uint8Array;
}

export interface Note {
  /** The signed text, with its last newline. */
  text: string;
  signatures: SignatureLine[];
}

/** First four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key). */
export function keyHash(name: string, publicKey: Uint8Array): Uint8Array {
  return createHash('sha256')
    .update(`${name}\n`)
    .update(Uint8Array.of(ED25519))
    .update(publicKey)
    .digest()
    .subarray(0, 4);
}

/** The verifier key text: `<name>+<hex key hash>+<base64 of 0x01 ‖ public key>`. */
export function vkey(name: string, publicKey: Uint8Array): string {
  const hash = Buffer.from(keyHash(name, publicKey)).toString('hex');
  return `${name}+${hash}+${Buffer.concat([Uint8Array.of(ED25519), publicKey]).toString('base64')}`;
}

/** Reads a verifier key text; null when it is none. */
export function parseVkey(text: string): { name: string; publicKey: Uint8Array } | null {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text);
  const [, name, hash, key] = match ?? [];
  if (name === undefined || hash === undefined || key === undefined) return null;
  const bytes = Buffer.from(key, 'base64');
  if (bytes.length !== 1 + PUBLIC_KEY_LENGTH || bytes[0] !== ED25519) return null;
  const publicKey = new Uint8Array(bytes.subarray(1));
  const right = Buffer.from(keyHash(name, publicKey)).toString('hex') === hash;
  return right ? { name, publicKey } : null;
}

/** Signs a text. Throws when the text does not end in a newline or holds an empty last line. */
export function signNote(text: string, signer: Signer): string {
  if (!text.endsWith('\n') || text.endsWith('\n\n')) {
    throw new TypeError('the text of a note ends in exactly one newline');
  }
  const signature = signer.sign(Buffer.from(text, 'utf8'));
  const blob = Buffer.concat([keyHash(signer.name, signer.publicKey), signature]);
  return `${text}\n— ${signer.name} ${blob.toString('base64')}\n`;
}

/** What no note may hold: control characters other than the newline. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/**
 * Takes a note apart; null when it is not one. It verifies nothing. A line by a
 * signer or of an algorithm that nobody here knows is kept, as signed-note asks.
 */
export function parseNote(note: string): Note | null {
  const split = note.lastIndexOf('\n\n');
  // Half a surrogate pair would be signed as U+FFFD: two texts under one signature.
  if (split < 1 || !note.endsWith('\n') || CONTROL.test(note) || !note.isWellFormed()) return null;
  const signatures: SignatureLine[] = [];
  for (const line of note.slice(split + 2, -1).split('\n')) {
    const match = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
    const [, name, base64] = match ?? [];
    if (name === undefined || base64 === undefined) return null;
    const blob = Buffer.from(base64, 'base64');
    if (blob.length < 5 || blob.toString('base64') !== base64) return null;
    signatures.push({ name, keyHash: blob.subarray(0, 4), signature: blob.subarray(4) });
  }
  return { text: note.slice(0, split + 1), signatures };
}

/** Whether a line of the note is this key's valid signature over its text. */
export function noteSignedBy(note: Note, key: { name: string; publicKey: Uint8Array }, verify: Verify): boolean {
  const hash = Buffer.from(keyHash(key.name, key.publicKey));
  const message = Buffer.from(note.text, 'utf8');
  return note.signatures.some(
    (line) =>
      line.name === key.name &&
      hash.equals(line.keyHash) &&
      line.signature.length === SIGNATURE_LENGTH &&
      verify(line.signature, message, key.publicKey),
  );
}

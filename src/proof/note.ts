import { fromBase64, joined, sameBytes, toBase64 } from './bytes.ts';

/** Signed notes (C2SP signed-note, protocol 3): a text that ends in a newline, an empty line, signature lines. */

const SIGNATURE_LENGTH = 64;

/** Verifies an Ed25519 signature by the strict rules of RFC 8032. */
export type Verify = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

export interface SignatureLine {
  name: string;
  keyHash: Uint8Array;
  signature: Uint8Array;
}

export interface Note {
  /** The signed text, including its last newline. */
  text: string;
  signatures: SignatureLine[];
}

/** Forbidden in notes: control characters other than the newline. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/** Parses a note, not verified; null when malformed. Keeps lines of unknown signers and algorithms (signed-note). */
export function parseNote(note: string): Note | null {
  const split = note.lastIndexOf('\n\n');
  // A lone surrogate would be signed as U+FFFD: two texts with the same signature.
  if (split < 1 || !note.endsWith('\n') || CONTROL.test(note) || !note.isWellFormed()) return null;
  const signatures = parseSignatureLines(note.slice(split + 2));
  return signatures === null ? null : { text: note.slice(0, split + 1), signatures };
}

/** The signed text of one of our own notes, whose form is not checked. */
export function signedText(note: string): string {
  return note.slice(0, note.lastIndexOf('\n\n') + 1);
}

/** Parses signature lines alone, as in a witness's response; null when there are none, or one is malformed. */
export function parseSignatureLines(text: string): SignatureLine[] | null {
  if (!text.endsWith('\n')) return null;
  const signatures: SignatureLine[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const match = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
    const [, name, base64] = match ?? [];
    if (name === undefined || base64 === undefined) return null;
    const blob = fromBase64(base64);
    if (blob === null || blob.length < 5) return null;
    signatures.push({ name, keyHash: blob.subarray(0, 4), signature: blob.subarray(4) });
  }
  return signatures;
}

/** A signature line as in a note, without its newline. */
export function signatureLineText({ name, keyHash, signature }: SignatureLine): string {
  return `— ${name} ${toBase64(joined(keyHash, signature))}`;
}

/** The signatures that a note claims for the Ed25519 key with this name and key hash. */
export function signaturesBy(note: Note, name: string, keyHash: Uint8Array): Uint8Array[] {
  return claimedBy(note.signatures, name, keyHash).filter(({ length }) => length === SIGNATURE_LENGTH);
}

/** The blobs that lines claim for the key with this name and key hash, whatever their type and length. */
export function claimedBy(lines: SignatureLine[], name: string, keyHash: Uint8Array): Uint8Array[] {
  return lines
    .filter((line) => line.name === name && sameBytes(line.keyHash, keyHash))
    .map(({ signature }) => signature);
}

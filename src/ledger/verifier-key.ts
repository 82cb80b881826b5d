import { createHash } from 'node:crypto';
import { joined, toHex } from './bytes.ts';
import { keyHashInput, splitVkey, vkeyText } from './key-text.ts';
import type { Note, Verify } from './note.ts';
import { signaturesBy } from './note.ts';

/** The first four bytes of SHA-256(name ‖ 0x0A ‖ signature type ‖ public key). */
export function keyHash(name: string, publicKey: Uint8Array, type?: number): Uint8Array {
  return createHash('sha256')
    .update(keyHashInput(name, publicKey, type))
    .digest()
    .subarray(0, 4);
}

/** The verifier key text: `<name>+<hex key hash>+<base64 of 0x01 ‖ public key>`. */
export function vkey(name: string, publicKey: Uint8Array): string {
  return vkeyText(name, toHex(keyHash(name, publicKey)), publicKey);
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

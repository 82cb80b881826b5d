import { sha256 } from './basis.ts';
import { joined, toBase64 } from './bytes.ts';
import { keyHash } from './keyring.ts';
import { type Receipt, receiptText } from './receipt.ts';

/** A key that can sign notes under a name. */
export interface Signer {
  name: string;
  publicKey: Uint8Array;
  /** Signs the bytes with Ed25519 (RFC 8032). Returns 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** Signs a text. Throws when the text does not end in a newline or ends in an empty line. */
export function signNote(text: string, signer: Signer): string {
  if (!text.endsWith('\n') || text.endsWith('\n\n')) {
    throw new TypeError('the text of a note ends in exactly one newline');
  }
  const blob = joined(keyHash(signer.name, signer.publicKey), signer.sign(joined(text)));
  return `${text}\n— ${signer.name} ${toBase64(blob)}\n`;
}

/** Signs a receipt as a note. Also returns the hash that the next generation names as its `prev`. */
export function signReceipt(receipt: Receipt, signer: Signer): { note: string; receipt_hash: string } {
  const text = receiptText(receipt);
  return { note: signNote(text, signer), receipt_hash: sha256(text) };
}

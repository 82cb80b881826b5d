import { joined } from '../proof/bytes.ts';
import { observationLines, parseObservation } from '../proof/records/receipt.ts';

/** The parts of an observation's receipt that cannot be computed from its domain, number and time. */
export interface ReceiptParts {
  kid: string;
  /** The name in the signature line. */
  name: string;
  key_hash: Uint8Array;
  fields: number;
  root: Uint8Array;
  prev: Uint8Array | null;
  signature: Uint8Array;
}

/** The rest of a receipt's text. */
export interface ReceiptPlace {
  domain: string;
  seq: number;
  /** ISO 8601, the signed time. */
  observed_at: string;
}

const KEY_HASH = 4;
const SIGNATURE = 64;

/**
 * Splits a receipt; null if it does not have the form of one. The caller must check that the parts reproduce the
 * receipt.
 */
export function partsOfReceipt(receipt: string): ReceiptParts | null {
  const end = receipt.indexOf('\n\n') + 1;
  const said = parseObservation(receipt.slice(0, end));
  const [, name, base64 = ''] = /^\n— (\S+) (\S+)\n$/.exec(receipt.slice(end)) ?? [];
  const blob = Buffer.from(base64, 'base64');
  if (said === null || name === undefined || blob.length !== KEY_HASH + SIGNATURE) return null;
  return {
    kid: said.kid,
    name,
    key_hash: blob.subarray(0, KEY_HASH),
    fields: said.record_fields,
    root: hashBytes(said.record_root),
    prev: said.prev === null ? null : hashBytes(said.prev),
    signature: blob.subarray(KEY_HASH),
  };
}

/** Builds the signed text and the whole receipt from the parts. */
export function receiptFromParts(place: ReceiptPlace, parts: ReceiptParts): { text: string; receipt: string } {
  const { kid, name, key_hash, fields, root, prev, signature } = parts;
  const text = observationLines({
    ...place,
    record_root: hashText(root),
    record_fields: fields,
    prev: prev === null ? null : hashText(prev),
    kid,
  });
  const line = `— ${name} ${Buffer.from(joined(key_hash, signature)).toString('base64')}\n`;
  return { text, receipt: `${text}\n${line}` };
}

/** `sha256:<hex>`. */
export function hashText(hash: Uint8Array): string {
  return `sha256:${Buffer.from(hash).toString('hex')}`;
}

export function hashBytes(hash: string): Uint8Array {
  return Buffer.from(hash.slice('sha256:'.length), 'hex');
}

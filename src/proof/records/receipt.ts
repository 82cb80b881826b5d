import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from '../signed-lines.ts';

/** The first line of every observation's receipt. */
const RECEIPT_HEADER = 'domain-observation/v1';

/** The parsed receipt of an observation. This file does no hashing, so it also runs in a reader's browser. */
export interface ObservationReceipt {
  domain: string;
  /** The number in the whole service, from 1, without gaps. */
  seq: number;
  observed_at: string;
  /** `sha256:<hex>`: the Merkle root over the record's disclosures. */
  record_root: string;
  /** The number of leaves of the tree. */
  record_fields: number;
  /** Hash of the signed text of the domain's previous observation, or null for its first. */
  prev: string | null;
  /** RFC 7638 thumbprint of the key that signs. */
  kid: string;
}

/** The signed text, byte for byte (protocol 5.5). Throws when a value contains whitespace. */
export function observationText(receipt: ObservationReceipt): string {
  const text = observationLines(receipt);
  if (parseObservation(text) === null) throw new TypeError(`a receipt cannot say ${JSON.stringify(receipt)}`);
  return text;
}

/**
 * The text of a receipt, without checking that it has the form of one: used for stored receipts, which may be damaged.
 */
export function observationLines(receipt: ObservationReceipt): string {
  const { domain, seq, observed_at, record_root, record_fields, prev, kid } = receipt;
  return `${RECEIPT_HEADER}\ndomain ${domain}\nseq ${seq}\nobserved_at ${observed_at}\nrecord_root ${record_root}\nrecord_fields ${record_fields}\nprev ${prev ?? 'none'}\nkid ${kid}\n`;
}

const linesIn = linesParser(RECEIPT_HEADER, {
  domain: '[a-z0-9.-]{3,253}',
  seq: NUMBER,
  observed_at: TIME,
  record_root: HASH,
  record_fields: NUMBER,
  prev: PREVIOUS,
  kid: WORD,
});

/** Parses a receipt's signed text; null unless it has exactly the form of protocol 5.5. */
export function parseObservation(text: string): ObservationReceipt | null {
  const lines = linesIn(text);
  if (lines === null) return null;
  const { seq, record_fields, prev } = lines;
  return { ...lines, seq: Number(seq), record_fields: Number(record_fields), prev: prev === 'none' ? null : prev };
}

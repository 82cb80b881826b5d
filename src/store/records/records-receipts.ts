import { isoTime } from '../../proof/time.ts';
import { hashBytes, partsOfReceipt, receiptFromParts } from '../../records/receipt-parts.ts';
import { bytes, type Db, integer, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

/** The columns of a receipt, after a join with `RECEIPT_TABLES`. */
export const RECEIPT = {
  seq: integer,
  hostname: text,
  observed_at: integer,
  signed_at: orNull(integer),
  receipt: text,
  kid: orNull(text),
  name: orNull(text),
  key_hash: orNull(bytes),
  fields: orNull(integer),
  root: orNull(bytes),
  prev: orNull(bytes),
  signature: orNull(bytes),
};
export const RECEIPT_COLUMNS =
  'observations.seq, hostname, observed_at, signed_at, receipt, kid, name, key_hash, fields, root, prev, signature';
export const RECEIPT_TABLES = `CROSS JOIN hostnames ON hostnames.id = observations.host
  LEFT JOIN receipt_signers ON receipt_signers.id = observations.signer`;
/** `sha256:<hex>`; older rows store it as text. */
export const RECEIPT_HASH = "iif(hash IS NULL, receipt_hash, 'sha256:' || lower(hex(hash)))";

/** A row's receipt, byte for byte as it was signed. */
export function receiptOf(row: Read<typeof RECEIPT>): string {
  const { hostname: domain, seq, kid, name, key_hash, fields, root, prev, signature } = row;
  if (kid === null || name === null || key_hash === null || fields === null || root === null || signature === null) {
    return row.receipt;
  }
  const place = { domain, seq, observed_at: isoTime(row.signed_at ?? row.observed_at) };
  return receiptFromParts(place, { kid, name, key_hash, fields, root, prev, signature }).receipt;
}

/** Where receipts are stored in parts. */
export function receiptTable(db: Db) {
  const { one } = sql(db);
  const signer = one('SELECT id FROM receipt_signers WHERE kid = ? AND name = ? AND key_hash = ?', integer);
  const addSigner = one('INSERT INTO receipt_signers (kid, name, key_hash) VALUES (?, ?, ?) RETURNING id', integer);
  return {
    /** Stores a receipt; returns the columns of its row. A receipt that its parts cannot reproduce is stored whole. */
    keepReceipt(place: { seq: number; hostname: string; observed_at: number }, receipt: string, receipt_hash: string) {
      const whole = {
        receipt,
        receipt_hash,
        signer: null,
        fields: null,
        root: null,
        prev: null,
        hash: null,
        signature: null,
      };
      const parts = partsOfReceipt(receipt);
      if (parts === null || receiptOf({ ...place, signed_at: null, receipt, ...parts }) !== receipt) return whole;
      const { kid, name, key_hash, ...own } = parts;
      const signerId = signer(kid, name, key_hash) ?? addSigner(kid, name, key_hash);
      // The index by receipt hash dates from when hashes were texts: it needs this prefix.
      return {
        ...own,
        receipt: '',
        receipt_hash: receipt_hash.slice(0, 19),
        signer: signerId,
        hash: hashBytes(receipt_hash),
      };
    },
  };
}

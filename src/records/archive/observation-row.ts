import { sha256 } from '../../proof/basis.ts';
import { joined } from '../../proof/bytes.ts';
import type { Observation } from '../../proof/records/observation.ts';
import { isoTime } from '../../proof/time.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { pathOf } from '../hostname.ts';
import { hashBytes, hashText, partsOfReceipt, receiptFromParts } from '../receipt-parts.ts';
import { type Circumstance, type RecordParts, recordFromParts } from '../record.ts';

/** An observation as stored, in its original texts. The archive must reproduce them byte for byte. */
export interface StoredObservation {
  seq: number;
  hostname: string;
  /** The time of the observation after corrections of the clock, in ms. */
  observed_at: number;
  /** The time in the receipt, in ms, if a correction of the clock changed `observed_at`; else null. */
  signed_at: number | null;
  /**
   * JSON: the fields of the record that stay the same from probe to probe (`body`), and those that change
   * (`RecordParts`).
   */
  body: string;
  circumstances: string;
  receipt: string;
  /** `sha256:<hex>` of the signed text. */
  receipt_hash: string;
}

/** The part of an observation that its receipt needs. */
export type Receipted = Omit<StoredObservation, 'body' | 'circumstances'>;

/** The secret from which the salts are derived. It is archived in a separate file. */
export type Seeded = { seed: Uint8Array };

/** A row of `observations`. Hashes and signatures are bytes; times in ms. */
export interface ObservationRow {
  path: string;
  seq: number;
  domain: string;
  observed_at: number;
  signed_at: number | null;
  kid: string | null;
  signed_by: string | null;
  record_root: Uint8Array | null;
  record_fields: number | null;
  /** Key hash and signature, decoded from the receipt's base64. */
  signature: Uint8Array | null;
  /**
   * The hash of the previous receipt, stored only in a name's first row and where it differs from the hash of the row
   * before.
   */
  prev: Uint8Array | null;
  body: string;
  circumstances: string;
  /** The whole receipt, if it cannot be rebuilt from the parts; the parts are then null. */
  receipt: string | null;
  /** Stored only if it is not the hash of the receipt's text. */
  receipt_hash: string | null;
}

const NO_PARTS = {
  kid: null,
  signed_by: null,
  record_root: null,
  record_fields: null,
  signature: null,
  prev: null,
};
const KEY_HASH = 4;

/**
 * Converts observations, sorted by path and number, to rows. A receipt that its parts would not reproduce is stored
 * whole.
 */
export class ObservationRows {
  #before: Link | null = null;

  rowOf(stored: StoredObservation): ObservationRow {
    const { seq, hostname: domain, observed_at, signed_at, body, circumstances, receipt } = stored;
    const base = { path: pathOf(domain), seq, domain, observed_at, signed_at, body, circumstances };
    const parts = partsOfReceipt(receipt);
    let row: ObservationRow = { ...base, ...NO_PARTS, receipt, receipt_hash: null };
    if (parts !== null) {
      const { prev, kid, name, key_hash, fields, root, signature } = parts;
      const isNext = linkTo(this.#before, domain) === (prev === null ? null : hashText(prev));
      const split: ObservationRow = {
        ...base,
        ...{ kid, signed_by: name, record_root: root, record_fields: fields, signature: joined(key_hash, signature) },
        ...{ prev: isNext ? null : prev, receipt: null, receipt_hash: null },
      };
      if (receiptsOf(split, this.#before).receipt === receipt) row = split;
    }
    if (receiptsOf(row, this.#before).receipt_hash !== stored.receipt_hash) row.receipt_hash = stored.receipt_hash;
    this.#before = { domain, hash: stored.receipt_hash };
    return row;
  }
}

/** Converts a file's rows back to observations. A name's rows must come in file order, starting with its first. */
export class StoredObservations {
  #before: Link | null = null;

  storedOf(row: ObservationRow): StoredObservation {
    const { body, circumstances } = row;
    return { ...this.receiptedOf(row), body, circumstances };
  }

  receiptedOf(row: Omit<ObservationRow, 'body' | 'circumstances'>): Receipted {
    const { seq, domain: hostname, observed_at, signed_at } = row;
    const receipts = receiptsOf(row, this.#before);
    this.#before = { domain: hostname, hash: receipts.receipt_hash };
    return { seq, hostname, observed_at, signed_at, ...receipts };
  }
}

/** The hash of a domain's last receipt, which its next receipt refers to. */
interface Link {
  domain: string;
  hash: string;
}

function linkTo(before: Link | null, domain: string): string | null {
  return before?.domain === domain ? before.hash : null;
}

function receiptsOf(
  row: Omit<ObservationRow, 'body' | 'circumstances'>,
  before: Link | null,
): Pick<StoredObservation, 'receipt' | 'receipt_hash'> {
  const { kid, signed_by: name, record_root: root, record_fields: fields, signature } = row;
  if (kid === null || name === null || root === null || fields === null || signature === null) {
    const receipt = row.receipt ?? '';
    return { receipt, receipt_hash: row.receipt_hash ?? sha256(receipt.slice(0, receipt.indexOf('\n\n') + 1)) };
  }
  const link = linkTo(before, row.domain);
  const { text, receipt } = receiptFromParts(
    { domain: row.domain, seq: row.seq, observed_at: isoTime(row.signed_at ?? row.observed_at) },
    {
      ...{
        kid,
        name,
        fields,
        root,
        key_hash: signature.subarray(0, KEY_HASH),
        signature: signature.subarray(KEY_HASH),
      },
      prev: row.prev ?? (link === null ? null : hashBytes(link)),
    },
  );
  return { receipt, receipt_hash: row.receipt_hash ?? sha256(text) };
}

/** Parses an observation. Throws `unavailable` for a damaged record. */
export function observationOf(stored: StoredObservation & Seeded): Observation {
  const { seq, seed, receipt, receipt_hash, signed_at, observed_at } = stored;
  try {
    const body = JSON.parse(stored.body) as RecordParts['body'];
    const circumstances = JSON.parse(stored.circumstances) as Circumstance[];
    const record = recordFromParts({ body, circumstances }, isoTime(signed_at ?? observed_at));
    return { seq, record, seed, receipt, receipt_hash };
  } catch (error) {
    throw damaged(seq, error);
  }
}

/** The fault for a damaged record. */
export function damaged(seq: number, error: unknown): Fault {
  return new Fault('unavailable', `seq ${seq}: its record cannot be read (${messageOf(error)}); restore a backup`);
}

import { sha256 } from '../ledger/basis.ts';
import { toHex } from '../ledger/bytes.ts';
import { leafHash, merkleRoot } from '../ledger/merkle.ts';
import type { Signer } from '../ledger/signing.ts';
import { signNote } from '../ledger/signing.ts';
import { observationText } from './receipt.ts';
import type { DomainRecord } from './record.ts';
import { disclosuresOf } from './salt.ts';

/** A stored observation: the record, the seed of its salts, and the receipt. */
export interface Observation {
  seq: number;
  record: DomainRecord;
  /** 32 secret bytes; see `salt.ts`. */
  seed: Uint8Array;
  /** The signed note, verbatim. */
  receipt: string;
  /** `sha256:<hex>` of the receipt's signed text. */
  receipt_hash: string;
}

/** `sha256:<hex>` of the Merkle root over disclosures in leaf order (protocol 5.4). */
export function recordRoot(disclosures: string[]): string {
  return `sha256:${toHex(merkleRoot(disclosures.map(leafHash)))}`;
}

/**
 * Signs a record. `seed` must be newly generated random bytes; `prev` is the receipt hash of the domain's last
 * observation.
 */
export function observe(
  { record, seq, prev, seed }: { record: DomainRecord; seq: number; prev: string | null; seed: Uint8Array },
  { signer, kid }: { signer: Signer; kid: string },
): Observation {
  const disclosures = disclosuresOf(record, seed);
  const { domain, observed_at } = record;
  const record_root = recordRoot(disclosures);
  const text = observationText({ domain, seq, observed_at, record_root, record_fields: disclosures.length, prev, kid });
  return { seq, record, seed, receipt: signNote(text, signer), receipt_hash: sha256(text) };
}

import { createHash } from 'node:crypto';
import { sha256 } from '../basis.ts';
import { toHex } from '../bytes.ts';
import { leafHash, merkleRoot } from '../merkle.ts';
import { type Signer, signNote } from '../signing.ts';
import { disclosureText } from './disclosure.ts';
import { observationText } from './receipt.ts';
import type { DomainRecord } from './record.ts';

export interface Observation {
  seq: number;
  record: DomainRecord;
  /** 32 secret bytes, from which the salts are derived. */
  seed: Uint8Array;
  receipt: string;
  /** `sha256:<hex>` of the receipt's signed text. */
  receipt_hash: string;
}

/** `sha256:<hex>` of the Merkle root over disclosures in leaf order (protocol 5.4). */
export function recordRoot(disclosures: string[]): string {
  return `sha256:${toHex(merkleRoot(disclosures.map(leafHash)))}`;
}

/** Signs a record. `seed` must be new random bytes; `prev` is the receipt hash of the domain's last observation. */
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

const SALT_LENGTH = 16;
/** The length of the secret from which an observation's salts are derived, in bytes. */
const SEED_LENGTH = 32;

/**
 * The disclosures of all fields in leaf order: by name, in UTF-16 code units. The salts are parts of the output of
 * SHAKE256 over the seed, so that an observation stores 32 random bytes instead of one salt per field. A disclosed salt
 * reveals nothing about the others.
 */
export function disclosuresOf(fields: object, seed: Uint8Array): string[] {
  if (seed.length !== SEED_LENGTH) throw new TypeError(`a seed must have ${SEED_LENGTH} bytes, not ${seed.length}`);
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  const salts = createHash('shake256', { outputLength: entries.length * SALT_LENGTH })
    .update(seed)
    .digest();
  return entries.map(([name, value], index) => {
    const salt = salts.toString('base64url', index * SALT_LENGTH, (index + 1) * SALT_LENGTH);
    return disclosureText({ salt, name, value });
  });
}

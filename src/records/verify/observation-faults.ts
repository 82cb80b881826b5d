import { sha256 } from '../../ledger/basis.ts';
import { toHex } from '../../ledger/bytes.ts';
import type { TimeCorrection } from '../../ledger/clock-note.ts';
import { trueIso } from '../../ledger/clock-note.ts';
import { keyOfNote } from '../../ledger/key-of-note.ts';
import type { VerifyingKey } from '../../ledger/keyring.ts';
import { leafHash, rootFromPath } from '../../ledger/merkle.ts';
import type { Verify } from '../../ledger/note.ts';
import { parseNote } from '../../ledger/note.ts';
import { isSignedBy } from '../../ledger/verifier-key.ts';
import { recordRoot } from '../observation.ts';
import type { ShownField } from '../preview.ts';
import { parseObservation } from '../receipt.ts';
import { allFieldRules, shownFieldRules } from './document-rules.ts';
import type { CheckedReceipt } from './observation-rules.ts';
import { receiptChainRules, receiptRules } from './observation-rules.ts';

/** Hashes one receipt and checks its signature. */
export function checkReceipt(
  text: string,
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): CheckedReceipt {
  const note = parseNote(text);
  const receipt = note === null ? null : parseObservation(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null, time: '' };
  const key = keyOfNote(keys, receipt.kid, note);
  const signature = key === null ? 'no_such_key' : isSignedBy(note, key, verify) ? 'holds' : 'fails';
  const time = trueIso(receipt.observed_at, receipt.seq, corrections);
  return { receipt, hash: sha256(note.text), signature, key, time };
}

/** Verifies a full record: all its disclosures, the root over them, and the signature. Returns the faults. */
export function recordFaults(
  { disclosures, receipt }: { disclosures: string[]; receipt: string },
  keys: VerifyingKey[],
  verify: Verify,
): string[] {
  const seen = checkReceipt(receipt, keys, verify);
  const fields = seen.receipt === null ? [] : allFieldRules(disclosures, seen.receipt, rootOfAll(disclosures));
  return [...receiptRules(seen), ...fields];
}

/** Verifies a preview: each disclosed field, its path to the signed root, and the signature. Returns the faults. */
export function previewFaults(
  { disclosures, receipt }: { disclosures: ShownField[]; receipt: string },
  keys: VerifyingKey[],
  verify: Verify,
): string[] {
  const seen = checkReceipt(receipt, keys, verify);
  const roots = rootsOfPaths(disclosures, seen);
  const fields = seen.receipt === null ? [] : shownFieldRules(disclosures, seen.receipt, roots);
  return [...receiptRules(seen), ...fields];
}

/** The root over all disclosures of a record; null for an empty list. */
export function rootOfAll(disclosures: string[]): string | null {
  return disclosures.length === 0 ? null : recordRoot(disclosures);
}

/** The roots that the paths lead to; null where a path does not fit its index. */
export function rootsOfPaths(disclosures: ShownField[], { receipt }: CheckedReceipt): (string | null)[] {
  return disclosures.map(({ index, disclosure, path }) => {
    if (receipt === null || !path.every((hex) => /^[0-9a-f]{64}$/.test(hex))) return null;
    const siblings = path.map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
    const root = rootFromPath(leafHash(disclosure), index, receipt.record_fields, siblings);
    return root === null ? null : `sha256:${toHex(root)}`;
  });
}

/** Verifies the receipts of one domain, oldest first. `whole` means that they begin with the domain's first. */
export function receiptChainFaults(receipts: string[], keys: VerifyingKey[], verify: Verify, whole: boolean): string[] {
  return receiptChainRules(
    receipts.map((receipt) => checkReceipt(receipt, keys, verify)),
    whole,
  );
}

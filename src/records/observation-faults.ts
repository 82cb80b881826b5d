import { sha256 } from '../ledger/basis.ts';
import { toHex } from '../ledger/bytes.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { leafHash, rootFromPath } from '../ledger/merkle.ts';
import type { Verify } from '../ledger/note.ts';
import { parseNote } from '../ledger/note.ts';
import { noteSignedBy } from '../ledger/verifier-key.ts';
import { parseDisclosure } from './disclosure.ts';
import { recordRoot } from './observation.ts';
import type { SeenReceipt } from './observation-rules.ts';
import { disclosureRules, receiptChainRules, receiptRules } from './observation-rules.ts';
import type { ShownField } from './preview.ts';
import { parseObservation } from './receipt.ts';

/** What the keys and a hash say of one receipt. */
export function seeReceipt(text: string, keys: DoorKey[], verify: Verify): SeenReceipt {
  const note = parseNote(text);
  const receipt = note === null ? null : parseObservation(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null };
  const key = keys.find(({ kid }) => kid === receipt.kid) ?? null;
  const signature = key === null ? 'no_such_key' : noteSignedBy(note, key, verify) ? 'holds' : 'fails';
  return { receipt, hash: sha256(note.text), signature, key };
}

/** What does not hold in a full record: all its disclosures, the root over them, the signature. */
export function recordFaults(
  { disclosures, receipt: text }: { disclosures: string[]; receipt: string },
  keys: DoorKey[],
  verify: Verify,
): string[] {
  const seen = seeReceipt(text, keys, verify);
  const faults = receiptRules(seen);
  if (seen.receipt === null) return faults;
  faults.push(...disclosureRules(disclosures.map(parseDisclosure), seen.receipt, true));
  if (recordRoot(disclosures) !== seen.receipt.record_root) {
    faults.push(`seq ${seen.receipt.seq}: the disclosures do not give the record_root that was signed`);
  }
  return faults;
}

/** What does not hold in a preview: each field shown, its path to the signed root, the signature. */
export function previewFaults(
  { disclosures, receipt: text }: { disclosures: ShownField[]; receipt: string },
  keys: DoorKey[],
  verify: Verify,
): string[] {
  const seen = seeReceipt(text, keys, verify);
  const { receipt } = seen;
  const faults = receiptRules(seen);
  if (receipt === null) return faults;
  const shown = disclosures.map(({ disclosure }) => parseDisclosure(disclosure));
  faults.push(...disclosureRules(shown, receipt, false));
  for (const { index, disclosure, path } of disclosures) {
    const leaf = leafHash(disclosure);
    const isHex = path.every((hex) => /^[0-9a-f]{64}$/.test(hex));
    const siblings = path.map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
    const root = isHex ? rootFromPath(leaf, index, receipt.record_fields, siblings) : null;
    if (root === null || `sha256:${toHex(root)}` !== receipt.record_root) {
      faults.push(`seq ${receipt.seq}: the path of disclosure ${index} does not lead to the record_root`);
    }
  }
  return faults;
}

/** What does not hold in receipts of one domain, oldest first; `whole` when they begin with its first. */
export function receiptChainFaults(receipts: string[], keys: DoorKey[], verify: Verify, whole: boolean): string[] {
  return receiptChainRules(
    receipts.map((receipt) => seeReceipt(receipt, keys, verify)),
    whole,
  );
}

import { keysOf, type VerifyingKey } from '../../src/proof/keyring.ts';
import type { Verify } from '../../src/proof/note.ts';
import { type Evidence, EvidenceText } from '../../src/proof/records/evidence.ts';
import type { Observation } from '../../src/proof/records/observation.ts';
import type { ShownField } from '../../src/proof/records/preview.ts';
import {
  checkReceipt,
  documentFaults,
  rootOfAll,
  rootsOfPaths,
} from '../../src/proof/records/verify/document-faults.ts';
import { allFieldRules, shownFieldRules } from '../../src/proof/records/verify/document-rules.ts';
import { jsonDocument } from '../../src/proof/records/verify/documents.ts';
import { linkRules, receiptRules } from '../../src/proof/records/verify/observation-rules.ts';

/** A bundle of a domain's whole chain, oldest first. */
export function evidenceOf(
  domain: string,
  observations: Iterable<Observation>,
  keys: VerifyingKey[],
  logProof: ConstructorParameters<typeof EvidenceText>[2] = () => null,
  clock: readonly string[] = [],
): Evidence {
  const text = new EvidenceText(domain, keys, logProof, clock);
  const records = [...observations].map((observation) => text.recordOf(observation));
  return JSON.parse([text.begin, ...records, text.end()].join('')) as Evidence;
}

/** The faults of a bundle, with its own keys or with trusted ones. */
export function evidenceFaults(json: unknown, verify: Verify, trusted = keysOf(json)): string[] {
  const document = jsonDocument(json);
  const isOther = document === null || (document.kind !== 'evidence' && document.kind !== 'misshapen');
  return isOther ? ['this is not an evidence bundle'] : documentFaults(document, trusted, verify);
}

/** The faults of an answer of the records service. */
export function answerFaults(json: unknown, keys: VerifyingKey[], verify: Verify): string[] {
  const document = jsonDocument(json);
  return document === null ? ['this is no such answer'] : documentFaults(document, keys, verify);
}

/** The faults of all disclosures of a record, and of its receipt. */
export function recordFaults(
  { disclosures, receipt }: { disclosures: string[]; receipt: string },
  keys: VerifyingKey[],
  verify: Verify,
): string[] {
  const seen = checkReceipt(receipt, keys, verify);
  const fields = seen.receipt === null ? [] : allFieldRules(disclosures, seen.receipt, rootOfAll(disclosures));
  return [...receiptRules(seen), ...fields];
}

/** The faults of the disclosures of a preview, of their paths, and of its receipt. */
export function previewFaults(
  { disclosures, receipt }: { disclosures: ShownField[]; receipt: string },
  keys: VerifyingKey[],
  verify: Verify,
): string[] {
  const seen = checkReceipt(receipt, keys, verify);
  const roots = rootsOfPaths(disclosures, seen);
  return [...receiptRules(seen), ...(seen.receipt === null ? [] : shownFieldRules(disclosures, seen.receipt, roots))];
}

/** The faults of the receipts of one domain, oldest first. `whole`: they begin with its first one. */
export function receiptChainFaults(receipts: string[], keys: VerifyingKey[], verify: Verify, whole: boolean): string[] {
  const seen = receipts.map((receipt) => checkReceipt(receipt, keys, verify));
  const links = seen.flatMap((one, at) => (at > 0 || whole ? linkRules(seen[at - 1] ?? null, one) : []));
  return [...(seen.length === 0 ? ['there is no observation'] : []), ...seen.flatMap(receiptRules), ...links];
}

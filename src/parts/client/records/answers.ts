import { saidRules } from '../../../records/answer-rules.ts';
import { parseDisclosure } from '../../../records/disclosure.ts';
import type { SeenReceipt } from '../../../records/observation-rules.ts';
import { disclosureRules } from '../../../records/observation-rules.ts';
import type { FullRecord, Preview } from '../../../records/preview.ts';
import type { Check } from '../verify/check.ts';
import type { Keys } from './receipts.ts';
import { check, receiptChecks } from './receipts.ts';
import { rootOfAll, rootOfPath } from './tree.ts';

/** The checks of a preview: its receipt, and that each field shown is part of what was signed. */
export async function* previewChecks(preview: Preview, keys: Keys): AsyncGenerator<Check> {
  const seen = yield* receiptChecks(preview.receipt, keys);
  const { receipt } = seen;
  if (receipt === null) return;
  yield namesCheck(preview, seen);

  const { disclosures, held_back } = preview;
  const fields = disclosures.map(({ disclosure }) => parseDisclosure(disclosure));
  const faults = disclosureRules(fields, receipt, false);
  for (const shown of disclosures) {
    if ((await rootOfPath(shown, receipt.record_fields)) !== receipt.record_root) {
      faults.push(`the path of disclosure ${shown.index} does not lead to the root that was signed`);
    }
  }
  yield check(
    'Each field shown is part of the signed record',
    faults,
    `Your browser hashed ${disclosures.length} salted fields and followed each one’s path up the tree: every one ends at the root in the receipt.`,
  );
  yield check(
    'What it says is what was signed',
    saidRules({ ...preview }, fields, receipt),
    'Domain, time, number of values by type and name servers are word for word those of the disclosed fields.',
  );
  const hidden = receipt.record_fields - disclosures.length;
  yield check(
    'It says how much it holds back',
    held_back.fields === hidden
      ? []
      : [`it says that ${held_back.fields} fields are held back, but ${hidden} of the signed record are not shown`],
    `${disclosures.length} of ${receipt.record_fields} fields are shown and ${hidden} held back. Behind their salts nobody can guess them; whoever is shown them later can check them by this same receipt.`,
  );
}

/** The checks of a full record: its receipt, the root over all its fields, and what it says beside them. */
export async function* recordChecks(record: FullRecord, keys: Keys): AsyncGenerator<Check> {
  const seen = yield* receiptChecks(record.receipt, keys);
  if (seen.receipt === null) return;
  yield namesCheck(record, seen);
  yield check(
    'All its fields are the signed record',
    await recordRootFaults(record, seen),
    `Your browser hashed all ${record.disclosures.length} salted fields into a tree, and its root is the one in the receipt: nothing was left out, added or changed.`,
  );
  yield check(
    'What it says is what was signed',
    saidRules({ ...record }, record.disclosures.map(parseDisclosure), seen.receipt),
    'Every signal, the certificate, the services and the name are word for word those of the disclosed fields.',
  );
}

/** What does not hold between a record's disclosures and the root that its receipt signs. */
export async function recordRootFaults({ disclosures }: FullRecord, { receipt }: SeenReceipt): Promise<string[]> {
  if (receipt === null) return [];
  const faults = disclosureRules(disclosures.map(parseDisclosure), receipt, true);
  if ((await rootOfAll(disclosures)) !== receipt.record_root) {
    faults.push(`seq ${receipt.seq}: the disclosures do not give the record_root that was signed`);
  }
  return faults;
}

/** Whether an answer is of the observation that its receipt is of. */
function namesCheck(answer: Preview | FullRecord, { receipt }: SeenReceipt): Check {
  const faults = (['domain', 'seq', 'observed_at'] as const)
    .filter((name) => answer[name] !== receipt?.[name])
    .map((name) => `it says ${name} ${answer[name]}, and the receipt ${receipt?.[name]}`);
  return check('It is of the receipt’s observation', faults, 'Domain, number and time are those of the receipt.');
}

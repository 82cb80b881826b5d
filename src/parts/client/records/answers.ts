import type { FullRecord, Preview } from '../../../proof/records/preview.ts';
import { rootOfAll, rootsOfPaths } from '../../../proof/records/verify/document-faults.ts';
import { previewRules, recordRules } from '../../../proof/records/verify/document-rules.ts';
import type { Check } from '../verify/check.ts';
import { check, type Keys, receiptChecks } from './receipts.ts';
import type { Tree } from './tree-drawing.ts';

/** A check of fields against the root of their tree, optionally with the tree to draw. */
export type DrawnCheck = Check & { tree?: Tree };

const NAMES = 'It is of the receipt’s observation';
const NAMED = 'Domain, number and time are those of the receipt.';

/** The checks of a preview: its receipt, and that each disclosed field was signed. */
export function* previewChecks(preview: Preview, keys: Keys): Generator<DrawnCheck> {
  const checked = yield* receiptChecks(preview.receipt, keys);
  const { receipt } = checked;
  if (receipt === null) return;
  const { disclosures } = preview;
  const { names, fields, content, held_back } = previewRules(preview, checked, rootsOfPaths(disclosures, checked));
  yield check(NAMES, names, NAMED);
  yield {
    ...check(
      'Each field shown is part of the signed record',
      fields,
      `Your browser hashed ${disclosures.length} salted fields and followed each one’s path up the tree: every one ends at the root in the receipt.`,
    ),
    tree: { size: receipt.record_fields, shown: disclosures.map(({ index }) => index) },
  };
  yield check(
    'What it says is what was signed',
    content,
    'Domain, time, number of values by type and name servers are word for word those of the disclosed fields.',
  );
  const hidden = receipt.record_fields - disclosures.length;
  yield check(
    'It says how much it holds back',
    held_back,
    `${disclosures.length} of ${receipt.record_fields} fields are shown and ${hidden} held back. Behind their salts nobody can guess them; whoever is shown them later can check them by this same receipt.`,
  );
}

/** The checks of a full record: its receipt, the root over all its fields, and its other members. */
export function* recordChecks(record: FullRecord, keys: Keys): Generator<DrawnCheck> {
  const checked = yield* receiptChecks(record.receipt, keys);
  if (checked.receipt === null) return;
  const { names, fields, content } = recordRules(record, checked, rootOfAll(record.disclosures));
  yield check(NAMES, names, NAMED);
  const size = record.disclosures.length;
  yield {
    ...check(
      'All its fields are the signed record',
      fields,
      `Your browser hashed all ${size} salted fields into a tree, and its root is the one in the receipt: nothing was left out, added or changed.`,
    ),
    tree: { size, shown: record.disclosures.map((_, index) => index) },
  };
  yield check(
    'What it says is what was signed',
    content,
    'Every signal, the certificate, the services and the name are word for word those of the disclosed fields.',
  );
}

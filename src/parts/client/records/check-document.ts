import { unsignedWords } from '../../../proof/members.ts';
import { badgeContentRules } from '../../../proof/records/verify/document-rules.ts';
import type { RecordsDocument } from '../../../proof/records/verify/documents.ts';
import type { PolicySource } from '../verify/log.ts';
import { type DrawnCheck, previewChecks, recordChecks } from './answers.ts';
import { bundleChecks, provenanceChecks } from './chains.ts';
import { dumpChecks } from './dump-note.ts';
import { logChecks, type Unchecked } from './log.ts';
import { check, type Keys, receiptChecks } from './receipts.ts';

/** Runs the checks of a document of any kind, one after the other. */
export async function* checkDocument(
  document: RecordsDocument,
  keys: Keys,
  policy: PolicySource,
): AsyncGenerator<DrawnCheck | Unchecked> {
  switch (document.kind) {
    case 'misshapen':
      yield check(`It has the form of ${FORMS[document.of]}`, document.faults, '');
      return;
    case 'receipt':
      yield* receiptChecks(document.receipt, keys);
      return;
    case 'badge': {
      const checked = yield* receiptChecks(document.receipt, keys);
      yield check(
        'It shows what its receipt says',
        badgeContentRules(document.svg, checked),
        'Drawn anew from the receipt, the badge is the same: name, day and number are those that were signed.',
      );
      return;
    }
    case 'preview':
      yield* previewChecks(document.preview, keys);
      return;
    case 'record':
      yield* recordChecks(document.record, keys);
      return;
    case 'evidence':
      yield* bundleChecks(document.bundle, keys);
      yield* logChecks(document.bundle.records, policy);
      return;
    case 'dump':
      yield* dumpChecks(document.proof, keys);
      yield* logChecks([{ receipt: document.proof.note, log: document.proof.log ?? null }], policy, 'note');
      return;
    case 'provenance':
      yield* provenanceChecks(document.page, keys);
      yield* logChecks(document.page.items, policy);
  }
}

const FORMS = {
  document: 'a document that names each member once',
  preview: 'a preview',
  record: 'a full record',
  provenance: 'a page of provenance',
  evidence: 'an evidence bundle',
  dump: 'the proof of a dump',
};

const HELD: Record<Exclude<RecordsDocument['kind'], 'misshapen'>, string> = {
  receipt:
    'Everything holds: the service signed this receipt. It commits to a record without showing it; a preview or the full record of the same number can be checked against it.',
  badge: 'Everything holds: the service signed the receipt in this badge, and the badge shows what that says.',
  preview: 'Everything holds: each field shown is part of the record that the service signed.',
  record: 'Everything holds: this is the whole record that the service signed, and nothing else.',
  evidence:
    'Everything holds: every record, and the chain from the first to the last of them, are as the service signed them.',
  dump: 'Everything holds: the service signed this note. Whether a file is the one that it names, the hash of the file says.',
  provenance: 'Everything holds: the service signed these receipts, one after the other.',
};

/** The verdict when all checks hold, with the members that are not signed. */
export function heldOf({ kind, unsigned }: RecordsDocument): string {
  if (kind === 'misshapen') return '';
  const words = unsignedWords(unsigned);
  return words === '' ? HELD[kind] : `${HELD[kind]} N${words.slice(1)}.`;
}

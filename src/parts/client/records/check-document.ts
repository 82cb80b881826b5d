import type { Check } from '../verify/check.ts';
import { previewChecks, recordChecks } from './answers.ts';
import { bundleChecks, chainChecks } from './chains.ts';
import type { Document } from './documents.ts';
import type { Keys } from './receipts.ts';
import { receiptChecks } from './receipts.ts';

/** Checks a document of any kind, one check after the other. */
export async function* checkDocument(document: Document, keys: Keys): AsyncGenerator<Check> {
  switch (document.kind) {
    case 'receipt':
      yield* receiptChecks(document.receipt, keys);
      return;
    case 'preview':
      yield* previewChecks(document.preview, keys);
      return;
    case 'record':
      yield* recordChecks(document.record, keys);
      return;
    case 'bundle':
      yield* bundleChecks(document.bundle, keys);
      return;
    case 'provenance':
      yield* chainChecks(document.receipts.toReversed(), document.domain, keys, false);
  }
}

/** What holds when everything about a document does, in words. */
export const HELD: Record<Document['kind'], string> = {
  receipt:
    'Everything holds: the service signed this receipt. It commits to a record without showing it; a preview or the full record of the same number can be checked against it.',
  preview: 'Everything holds: each field shown is part of the record that the service signed.',
  record: 'Everything holds: this is the whole record that the service signed, and nothing else.',
  bundle: 'Everything holds: every record and the whole chain are as the service signed them.',
  provenance: 'Everything holds: the service signed these receipts, one after the other.',
};

import { correctionsIn } from '../../ledger/clock-note.ts';
import type { VerifyingKey } from '../../ledger/keyring.ts';
import { keysOf } from '../../ledger/keyring.ts';
import type { LogProof } from '../../ledger/log/log-proof.ts';
import { logProofFaults } from '../../ledger/log/log-proof-faults.ts';
import type { Verify } from '../../ledger/note.ts';
import { checkClockNotes } from '../../ledger/verify-clock.ts';
import type { Evidence } from '../evidence.ts';
import type { FullRecord, Preview } from '../preview.ts';
import type { AnswerFaults } from './document-rules.ts';
import {
  badgeContentRules,
  bundleKeyRules,
  chainRules,
  previewRules,
  provenanceRules,
  recordRules,
} from './document-rules.ts';
import type { RecordsDocument } from './documents.ts';
import { jsonDocument } from './documents.ts';
import { checkReceipt, rootOfAll, rootsOfPaths } from './observation-faults.ts';
import { receiptRules } from './observation-rules.ts';

/** Whose corrections of the clock a document may have. */
const RECORDS = { service: 'records', paper: null } as const;

/** The rules of documents, with Node's hashes and signatures. */

/** The faults of a document of the domain records; an empty list means that it is valid. */
export function documentFaults(document: RecordsDocument, keys: VerifyingKey[], verify: Verify): string[] {
  switch (document.kind) {
    case 'misshapen':
      return document.faults;
    case 'receipt':
      return receiptRules(checkReceipt(document.receipt, keys, verify));
    case 'badge': {
      const seen = checkReceipt(document.receipt, keys, verify);
      return [...receiptRules(seen), ...badgeContentRules(document.svg, seen)];
    }
    case 'preview':
      return previewFaults(document.preview, keys, verify);
    case 'record':
      return recordFaults(document.record, keys, verify);
    case 'provenance': {
      const clock = checkClockNotes(document.page.clock ?? [], RECORDS, keys, verify);
      const corrections = correctionsIn(clock.statements);
      const seen = document.page.items.map(({ receipt }) => checkReceipt(receipt, keys, verify, corrections));
      return [
        ...clock.faults,
        ...seen.flatMap(receiptRules),
        ...provenanceRules(document.page, seen),
        ...logFaults(document.page.items),
      ];
    }
    case 'evidence':
      return bundleFaults(document.bundle, keys, verify);
  }
}

export function answerFaults(json: unknown, keys: VerifyingKey[], verify: Verify): string[] {
  const document = jsonDocument(json);
  if (document === null) return ['this is not an answer of the records service'];
  return documentFaults(document, keys, verify);
}

/**
 * Verifies a bundle with its own keys in their periods, or with keys that the caller trusts. Its own keys prove that
 * the records belong together, not whose they are.
 */
export function evidenceFaults(json: unknown, verify: Verify, trusted?: VerifyingKey[]): string[] {
  const document = jsonDocument(json);
  if (document?.kind === 'misshapen') return document.faults;
  if (document?.kind !== 'evidence') return ['this is not an evidence bundle'];
  return documentFaults(document, trusted ?? keysOf(json), verify);
}

function previewFaults(preview: Preview, keys: VerifyingKey[], verify: Verify): string[] {
  const seen = checkReceipt(preview.receipt, keys, verify);
  return [...receiptRules(seen), ...flat(previewRules(preview, seen, rootsOfPaths(preview.disclosures, seen)))];
}

function recordFaults(record: FullRecord, keys: VerifyingKey[], verify: Verify): string[] {
  const seen = checkReceipt(record.receipt, keys, verify);
  return [...receiptRules(seen), ...flat(recordRules(record, seen, rootOfAll(record.disclosures)))];
}

function bundleFaults(bundle: Evidence, keys: VerifyingKey[], verify: Verify): string[] {
  const clock = checkClockNotes(bundle.clock ?? [], RECORDS, keys, verify);
  const corrections = correctionsIn(clock.statements);
  const seen = bundle.records.map(({ receipt }) => checkReceipt(receipt, keys, verify, corrections));
  return [
    ...clock.faults,
    ...bundleKeyRules(bundle, keysOf(bundle), keys),
    ...seen.flatMap(receiptRules),
    ...chainRules(seen, bundle.domain, true),
    ...bundle.records.flatMap((record, index) => {
      const one = seen[index];
      return one === undefined ? [] : flat(recordRules(record, one, rootOfAll(record.disclosures)));
    }),
    ...logFaults(bundle.records),
  ];
}

/** Whether the receipts are where their proofs say that they are in the log. */
function logFaults(rows: { seq: number; receipt: string; log?: LogProof | null }[]): string[] {
  return rows.flatMap(({ seq, receipt, log }) => logProofFaults(log, receipt).map((fault) => `seq ${seq}: ${fault}`));
}

function flat({ names, fields, content: said, held_back: held }: AnswerFaults): string[] {
  return [...names, ...fields, ...said, ...held];
}

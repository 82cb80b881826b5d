import { fromHex, toHex } from '../../bytes.ts';
import { correctionsIn, type TimeCorrection } from '../../clock-note.ts';
import { DUMP_HEADER, parseDump } from '../../dump-note.ts';
import { checkClockNotes, checkReceipt as checked, checkNote } from '../../generation.ts';
import { signingPeriodFaults } from '../../key-text.ts';
import { keysOf, type VerifyingKey } from '../../keyring.ts';
import type { LogProof } from '../../log/log-proof.ts';
import { logProofFaults } from '../../log/logged-entries.ts';
import { leafHash, rootFromPath } from '../../merkle.ts';
import type { Verify } from '../../note.ts';
import type { Evidence } from '../evidence.ts';
import { recordRoot } from '../observation.ts';
import type { FullRecord, ShownField } from '../preview.ts';
import { type ObservationReceipt, parseObservation } from '../receipt.ts';
import {
  badgeContentRules,
  bundleKeyRules,
  chainRules,
  previewRules,
  provenanceRules,
  recordRules,
} from './document-rules.ts';
import type { DumpProof, RecordsDocument } from './documents.ts';
import { type CheckedReceipt, receiptRules } from './observation-rules.ts';

const OBSERVED = { parse: parseObservation, timeOf: ({ observed_at }: ObservationReceipt) => observed_at };

/** Corrections of the clock in these documents must be the domain records' own. */
export const RECORDS = { service: 'records', paper: null } as const;

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
    case 'preview': {
      const { preview } = document;
      const seen = checkReceipt(preview.receipt, keys, verify);
      const faults = previewRules(preview, seen, rootsOfPaths(preview.disclosures, seen));
      return [...receiptRules(seen), ...Object.values(faults).flat()];
    }
    case 'record': {
      const seen = checkReceipt(document.record.receipt, keys, verify);
      return [...receiptRules(seen), ...contentFaults(document.record, seen)];
    }
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
    case 'dump':
      return dumpFaults(document.proof, keys, verify);
  }
}

function contentFaults(record: FullRecord, seen: CheckedReceipt): string[] {
  return Object.values(recordRules(record, seen, rootOfAll(record.disclosures))).flat();
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
      return one === undefined ? [] : contentFaults(record, one);
    }),
    ...logFaults(bundle.records),
  ];
}

/** The faults of a dump's note and of its place in the log. Its files must be hashed separately. */
function dumpFaults({ day, note, log }: DumpProof, keys: VerifyingKey[], verify: Verify): string[] {
  const { said, key, fault } = checkNote(note, { parse: parseDump, header: DUMP_HEADER }, keys, verify);
  return [
    ...(fault === null ? [] : [`the note: ${fault}`]),
    ...(said === null || said.day === day ? [] : [`day says ${day}, but its note ${said.day}`]),
    ...(said === null || key === null ? [] : signingPeriodFaults('the note: signed', said.signed_at, key)),
    ...logProofFaults(log, note),
  ];
}

/** Checks that the receipts are in the log where their proofs say. */
function logFaults(rows: { seq: number; receipt: string; log?: LogProof | null }[]): string[] {
  return rows.flatMap(({ seq, receipt, log }) => logProofFaults(log, receipt).map((fault) => `seq ${seq}: ${fault}`));
}

/** Hashes one receipt and checks its signature. */
export function checkReceipt(
  text: string,
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): CheckedReceipt {
  return checked(text, OBSERVED, keys, verify, corrections);
}

/** The root over all disclosures of a record; null for an empty list. */
export function rootOfAll(disclosures: string[]): string | null {
  return disclosures.length === 0 ? null : recordRoot(disclosures);
}

/** The roots that the paths lead to; null where a path does not fit its index. */
export function rootsOfPaths(disclosures: ShownField[], { receipt }: CheckedReceipt): (string | null)[] {
  return disclosures.map(({ index, disclosure, path }) => {
    if (receipt === null || !path.every((hex) => /^[0-9a-f]{64}$/.test(hex))) return null;
    const siblings = path.map(fromHex);
    const root = rootFromPath(leafHash(disclosure), index, receipt.record_fields, siblings);
    return root === null ? null : `sha256:${toHex(root)}`;
  });
}

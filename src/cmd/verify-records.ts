import { Fault } from '../fault.ts';
import { verifyNode } from '../ledger/ed25519.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { parseNote } from '../ledger/note.ts';
import { answerFaults } from '../records/answer-faults.ts';
import { evidenceFaults } from '../records/evidence.ts';
import { receiptChainFaults, seeReceipt } from '../records/observation-faults.ts';
import { receiptRules } from '../records/observation-rules.ts';
import { parseObservation } from '../records/receipt.ts';
import { counted } from './counted.ts';
import { isAddress, keysAt, keysOf } from './verify-sources.ts';

/** A document of the domain records, and what did not hold in it. */
export interface CheckedRecords {
  /** Where it was. */
  document: string;
  kind: 'receipt' | 'preview' | 'record' | 'provenance' | 'evidence';
  domain: string | null;
  /** How many receipts were checked. */
  receipts: number;
  faults: string[];
  /** Whether the keys were those that came with it. */
  own_keys: boolean;
}

/** What of the domain records a text is, with the receipts in it; null when it is none of it. */
interface RecordsDocument {
  kind: CheckedRecords['kind'];
  json: unknown;
  receipts: string[];
}

/** Reads a text as a document of the domain records; null when it is something else. */
export function recordsDocument(text: string): RecordsDocument | null {
  const trimmed = text.trim();
  const badge = trimmed.startsWith('<svg') ? /<metadata>([^<]*)<\/metadata>/.exec(trimmed)?.[1]?.trim() : undefined;
  const note = badge ?? trimmed;
  if (note.startsWith('domain-observation/')) return { kind: 'receipt', json: null, receipts: [`${note}\n`] };
  try {
    return jsonDocument(JSON.parse(trimmed));
  } catch {
    return null;
  }
}

function jsonDocument(json: unknown): RecordsDocument | null {
  if (typeof json !== 'object' || json === null) return null;
  const { evidence, preview, observation, receipt, records, items } = json as Record<string, unknown>;
  if (evidence === 'domain-evidence/v1') return { kind: 'evidence', json, receipts: receiptsIn(records) };
  if (typeof preview === 'boolean') {
    return { kind: preview ? 'preview' : 'record', json, receipts: receiptsIn([{ receipt }]) };
  }
  const receipts = receiptsIn(items);
  if (receipts.length > 0) return { kind: 'provenance', json, receipts: receipts.reverse() };
  // A page's JSON has the answer in it.
  return jsonDocument(preview ?? observation ?? null);
}

function receiptsIn(list: unknown): string[] {
  return (Array.isArray(list) ? list : [])
    .map((item) => (item as { receipt?: unknown } | null)?.receipt)
    .filter((receipt) => typeof receipt === 'string');
}

/**
 * Checks a document by keys that the caller trusts, else by those of the bundle
 * or of the site that it came from. Throws `invalid_request` when there are none.
 */
export async function checkRecords(
  where: string,
  { kind, json, receipts }: RecordsDocument,
  trusted: DoorKey[] | undefined,
): Promise<CheckedRecords> {
  const keys = trusted ?? (await keysFor(where, kind, json));
  const faults = faultsOf(kind, json, receipts, keys);
  const domain = parseObservation(parseNote(receipts[0] ?? '')?.text ?? '')?.domain ?? null;
  return { document: where, kind, domain, receipts: receipts.length, faults, own_keys: trusted === undefined };
}

function faultsOf(kind: CheckedRecords['kind'], json: unknown, receipts: string[], keys: DoorKey[]): string[] {
  if (kind === 'evidence') return evidenceFaults(json, verifyNode, keys);
  if (kind === 'provenance') return receiptChainFaults(receipts, keys, verifyNode, false);
  if (kind === 'receipt') return receiptRules(seeReceipt(receipts[0] ?? '', keys, verifyNode));
  return answerFaults(json, keys, verifyNode);
}

async function keysFor(where: string, kind: CheckedRecords['kind'], json: unknown): Promise<DoorKey[]> {
  if (isAddress(where)) return keysAt(new URL('/.well-known/records-keys.json', where).href);
  if (kind === 'evidence') return keysOf(json);
  throw new Fault(
    'invalid_request',
    `${where}: a ${kind} brings no keys; give --keys with a records-keys.json or its address`,
  );
}

/** What was found, in a line for people. */
export function saidOf({ kind, domain, receipts, document, faults }: CheckedRecords): string {
  if (faults.length > 0) return `${document}: the ${kind} does not hold`;
  const what = {
    receipt: 'the signature holds',
    preview: 'the signature, each path to the root and what it says hold',
    record: 'the signature, the root over all fields and what it says hold',
    provenance: `the signatures and the chain of ${counted(receipts, 'receipt')} hold`,
    evidence: `${counted(receipts, 'record')}, their signatures and the whole chain hold`,
  }[kind];
  return `${domain}: ${what}`;
}

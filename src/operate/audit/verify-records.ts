import { clockIn, correctionsIn, trueIso } from '../../proof/clock-note.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import { keysOf, type VerifyingKey } from '../../proof/keyring.ts';
import type { LogProof } from '../../proof/log/log-proof.ts';
import { checkLogged, type LoggedReceipt } from '../../proof/log/logged.ts';
import type { Policy } from '../../proof/log/policy.ts';
import { parseNote } from '../../proof/note.ts';
import { type ObservationReceipt, parseObservation } from '../../proof/records/receipt.ts';
import { documentFaults } from '../../proof/records/verify/document-faults.ts';
import { documentIn, type RecordsDocument } from '../../proof/records/verify/documents.ts';
import { Fault } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { isAddress, keysAt } from './verify-sources.ts';

/** A document of the domain records, and its faults. */
export interface CheckedRecords {
  /** Its file or address. */
  document: string;
  kind: 'receipt' | 'badge' | 'preview' | 'record' | 'provenance' | 'evidence' | 'dump';
  domain: string | null;
  /** Number of receipts checked. */
  receipts: number;
  /** The numbers of its oldest and newest observations; null when no receipt could be parsed. */
  seqs: [oldest: number, newest: number] | null;
  faults: string[];
  /** The unsigned members, which were therefore not checked. */
  unsigned: string[];
  /** Whether the keys came from the document or its site instead of the caller. */
  own_keys: boolean;
  /** Where each receipt is in the log, in their order; null without a policy, and when one has a fault. */
  logged: LoggedReceipt[] | null;
  /** Receipts that say a wrong time, by a signed correction of the clock. */
  corrected: { seq: number; observed_at: string; true_time: string }[];
}

/** Parses a text as a document of the domain records; null when it is something else. */
export function recordsDocument(text: string): RecordsDocument | null {
  const document = documentIn(text);
  // An unrecognizable document is verified as a proof of a story, which reports the same errors.
  return document?.kind === 'misshapen' && document.of === 'document' ? null : document;
}

/** Checks a document by trusted keys, else by its own or its site's. Throws `invalid_request` when there are none. */
export async function checkRecords(
  where: string,
  document: Exclude<RecordsDocument, { kind: 'dump' }>,
  trusted: VerifyingKey[] | undefined,
  policy?: Policy,
): Promise<CheckedRecords> {
  const { kind: found } = document;
  const kind = found !== 'misshapen' ? found : document.of === 'document' ? 'record' : document.of;
  const keys = document.kind === 'misshapen' ? [] : (trusted ?? (await keysFor(where, document)));
  const texts = receiptsIn(document);
  const receipts = texts.map((text) => parseObservation(parseNote(text)?.text ?? '')).filter((one) => one !== null);
  const seqs = receipts.map(({ seq }) => seq).sort((a, b) => a - b);
  const [oldest, newest] = [seqs[0], seqs.at(-1)];
  const faults = documentFaults(document, keys, verifyNode);
  const logged = policy === undefined ? null : await checkRows(kind, document, policy);
  const isKnown = faults.some((fault) => fault.includes('log: '));
  return {
    document: where,
    kind,
    domain: receipts[0]?.domain ?? null,
    receipts: texts.length,
    seqs: oldest === undefined || newest === undefined ? null : [oldest, newest],
    faults: [...faults, ...(isKnown ? [] : (logged?.faults ?? []))],
    unsigned: document.unsigned,
    own_keys: trusted === undefined,
    logged: logged?.rows ?? null,
    corrected: faults.length > 0 ? [] : correctedIn(document, receipts),
  };
}

/** Requires that the log of a policy has every receipt of a document. */
async function checkRows(kind: CheckedRecords['kind'], document: RecordsDocument, policy: Policy) {
  const rows = rowsIn(document);
  if (rows === null) {
    const cure = 'get the provenance of the hostname, or an evidence bundle';
    return { rows: null, faults: [`log: a ${kind} has no proof that its receipt is in the log; ${cure}`] };
  }
  const found: LoggedReceipt[] = [];
  const faults: string[] = [];
  for (const { seq, receipt, log } of rows) {
    const checked = await checkLogged(log, receipt, policy);
    faults.push(...checked.faults.map((fault) => `seq ${seq}: ${fault}`));
    if (checked.logged !== null) found.push(checked.logged);
  }
  return { rows: faults.length > 0 ? null : found, faults };
}

/** The rows of a document of several observations; null for other kinds, which do not say where they are in the log. */
function rowsIn(document: RecordsDocument): { seq: number; receipt: string; log?: LogProof | null }[] | null {
  if (document.kind === 'evidence') return document.bundle.records;
  return document.kind === 'provenance' ? document.page.items : null;
}

function receiptsIn(document: RecordsDocument): string[] {
  const rows = rowsIn(document);
  if (rows !== null) return rows.map(({ receipt }) => receipt);
  if (document.kind === 'preview') return [document.preview.receipt];
  if (document.kind === 'record') return [document.record.receipt];
  return 'receipt' in document ? [document.receipt] : [];
}

function correctedIn(document: RecordsDocument, receipts: ObservationReceipt[]): CheckedRecords['corrected'] {
  const { clock = [] } =
    document.kind === 'evidence' ? document.bundle : document.kind === 'provenance' ? document.page : {};
  const corrections = correctionsIn(clock.flatMap((note) => clockIn(note) ?? []));
  return receipts.flatMap(({ seq, observed_at }) => {
    const true_time = trueIso(observed_at, seq, corrections);
    return true_time === observed_at ? [] : [{ seq, observed_at, true_time }];
  });
}

async function keysFor(where: string, document: RecordsDocument): Promise<VerifyingKey[]> {
  if (isAddress(where)) return keysAt(new URL('/.well-known/records-keys.json', where).href);
  if (document.kind === 'evidence') return keysOf(document.bundle);
  throw new Fault(
    'invalid_request',
    `${where}: a ${document.kind} contains no keys; give --keys with a records-keys.json or its address`,
  );
}

/** The result in a line for people. It claims nothing about later records, which may have been cut off. */
export function saidOf({ kind, domain, receipts, seqs, document, faults }: CheckedRecords): string {
  if (faults.length > 0) return `${document}: the ${kind} does not hold`;
  const from = `no. ${seqs?.[0]} to no. ${seqs?.[1]}`;
  const what = {
    receipt: 'the signature holds',
    badge: 'the signature holds, and the badge shows what was signed',
    preview: 'the signature, each path to the root and what it says hold',
    record: 'the signature, the root over all fields and what it says hold',
    provenance: `the signatures and the chain of ${plural(receipts, 'receipt')} hold, from ${from}`,
    dump: 'the note holds',
    evidence: `${plural(receipts, 'record')}, their signatures and the chain hold, from its beginning (${from}); a bundle cannot say whether more followed`,
  }[kind];
  return `${domain}: ${what}`;
}

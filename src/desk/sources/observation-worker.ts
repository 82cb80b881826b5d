import { verifyNode } from '../../proof/ed25519.ts';
import { parseIJson } from '../../proof/i-json.ts';
import { keyOfNote } from '../../proof/key-text.ts';
import { keysOf, type VerifyingKey, vkey } from '../../proof/keyring.ts';
import { parseNote } from '../../proof/note.ts';
import {
  askedFor,
  type CitedObservation,
  citedObservation,
  fieldsOf,
  observationFaults,
  renderedObservation,
} from '../../proof/records/cited-observation.ts';
import type { Evidence } from '../../proof/records/evidence.ts';
import type { FullRecord, Preview } from '../../proof/records/preview.ts';
import { type ObservationReceipt, parseObservation } from '../../proof/records/receipt.ts';
import { documentFaults } from '../../proof/records/verify/document-faults.ts';
import { documentIn, type RecordsDocument } from '../../proof/records/verify/documents.ts';

/** The longest observation that a ledger and a proof carry, as JSON in UTF-16 units. */
const OBSERVATION_MAX = 256 * 1_024;

/** An answer that may be a document of the domain records. */
export interface ClaimTask {
  bytes: Uint8Array;
}

/** Whether an answer claims to be a signed observation, and the name of the key that signed it, or the newest of several. */
export type Claim = { signer: string | null } | null;

export interface ObservationTask extends ClaimTask {
  /** The address, as the fact gives it. */
  instrument: string;
  /** The key document of its service. */
  keys: Uint8Array;
  /** The newest observation of the same hostname, where the address asks for an older one. */
  current: Uint8Array | null;
}

/** What an observation is, or why it does not hold. */
export type ObservationFound =
  | { fault: string }
  | {
      observation: CitedObservation;
      /** Hash of the receipt's text, and the verifier key of its signer. */
      receipt: string;
      observed_by: string;
      text: string;
      /** A newer one of the same hostname, by the same service; null without one. */
      newer: CitedObservation | null;
    };

type Shown = Extract<RecordsDocument, { kind: 'preview' | 'record' | 'evidence' | 'misshapen' }>;

/** The observations that an answer shows; null for an answer of another kind. */
function shownIn(bytes: Uint8Array): Shown | null {
  let document: RecordsDocument | null;
  try {
    document = documentIn(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  switch (document?.kind) {
    case 'preview':
    case 'record':
    case 'evidence':
    case 'misshapen':
      return document;
    default:
      return null;
  }
}

/** Runs on a thread with a bounded heap, as all that strangers send. */
export function claim({ bytes }: ClaimTask): Claim {
  const document = shownIn(bytes);
  if (document === null) return null;
  const receipt = document.kind === 'misshapen' ? '' : (answersIn(document).at(-1)?.receipt ?? '');
  return { signer: parseNote(receipt)?.signatures[0]?.name ?? null };
}

function answersIn(document: Exclude<Shown, { kind: 'misshapen' }>): (Preview | Evidence['records'][number])[] {
  if (document.kind === 'evidence') return document.bundle.records;
  return [document.kind === 'preview' ? document.preview : document.record];
}

/** Verifies an answer by the rules of the domain records (protocol 5.7, 5.8). */
export function observe(task: ObservationTask): ObservationFound {
  const keys = keysIn(task.keys);
  if (keys.length === 0) return { fault: 'its service lists no keys' };
  const seen = verified(task.bytes, task.instrument, keys);
  if ('fault' in seen) return seen;
  const { receipt, hash, observation } = seen;
  const key = keyOfNote(keys, receipt.kid, parseNote(observation.receipt) ?? { signatures: [] });
  if (key === null) return { fault: `no key with kid ${receipt.kid} is known` };
  const current = task.current === null ? null : verified(task.current, '', keys);
  const isOfIt = current !== null && !('fault' in current) && current.receipt.domain === receipt.domain;
  const newer = isOfIt && current.receipt.seq > receipt.seq ? current.observation : null;
  const text = renderedObservation(receipt, fieldsOf(observation));
  return { observation, receipt: hash, observed_by: vkey(key.name, key.publicKey), text, newer };
}

function verified(
  bytes: Uint8Array,
  address: string,
  keys: VerifyingKey[],
): { fault: string } | { receipt: ObservationReceipt; hash: string; observation: CitedObservation } {
  const document = shownIn(bytes);
  if (document === null) return { fault: 'it shows no observation' };
  const [fault] = documentFaults(document, keys, verifyNode);
  if (fault !== undefined || document.kind === 'misshapen') return { fault: fault ?? 'it has another form' };
  const asked = askedFor(address);
  if (asked === null) return { fault: 'the as_of of its address is not a day or a time' };
  const { until } = asked;
  const answers = answersIn(document);
  // A bundle has several. Of one answer its rules say themselves whether its time is the right one.
  const answer =
    until === null || answers.length === 1 ? answers.at(-1) : answers.findLast((one) => timeOf(one) < until);
  if (answer === undefined) return { fault: 'it has no observation from before the time that its address asks for' };
  const observation = citedObservation(answer);
  if (JSON.stringify(observation).length > OBSERVATION_MAX) {
    return { fault: `the observation is longer than ${OBSERVATION_MAX} characters` };
  }
  // A key's period is checked above, with the corrections of its clock.
  const ever = keys.map((key) => ({ ...key, nbf: 0, retired_at: null }));
  const { receipt, hash, faults } = observationFaults(observation, address, ever, verifyNode);
  return receipt === null || faults[0] !== undefined
    ? { fault: faults[0] ?? 'it has no receipt' }
    : { receipt, hash, observation };
}

function timeOf({ receipt }: Pick<FullRecord, 'receipt'>): number {
  return Date.parse(parseObservation(parseNote(receipt)?.text ?? '')?.observed_at ?? '');
}

function keysIn(bytes: Uint8Array): VerifyingKey[] {
  try {
    return keysOf(parseIJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return [];
  }
}

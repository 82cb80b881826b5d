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

/** Maximum size of an observation in a ledger or a proof, as JSON in UTF-16 units. */
const OBSERVATION_MAX = 256 * 1_024;

/**
 * Maximum number of values in a document. If a thread runs out of memory in `JSON.parse`, the whole process ends: 20 MB
 * of brackets take 700 MB. A bundle has about one value per 14 bytes.
 */
const VALUES_MAX = 2_000_000;

/** A response that may be a document of the domain records. */
export interface ClaimTask {
  bytes: Uint8Array;
  /** The address, as the fact gives it. */
  instrument: string;
}

/** Whether a response claims to be a signed observation, and the name of the key that signed the requested one. */
export type Claim = { signer: string | null } | null;

export interface ObservationTask extends ClaimTask {
  /** The name of the only key that may sign it; null for any of `keys`. */
  signer: string | null;
  /** The key document of its service. */
  keys: Uint8Array;
  /** The newest observation of the same hostname, if the address asks for an older one. */
  current: Uint8Array | null;
}

/** A verified observation, or why it does not verify. */
export type ObservationFound =
  | { fault: string }
  | {
      observation: CitedObservation;
      /** Hash of the receipt's text, and the verifier key of its signer. */
      receipt: string;
      observed_by: string;
      text: string;
      /** A newer observation of the same hostname, by the same service; null without one. */
      newer: CitedObservation | null;
      /** Why `current` does not show whether there is a newer observation; null when it does. */
      unseen: string | null;
    };

type Shown = Extract<RecordsDocument, { kind: 'preview' | 'record' | 'evidence' | 'misshapen' }>;

/** Throws for JSON with more values than a thread has memory for. Also counts `[`, `{` and `,` inside strings. */
function requireFew(bytes: Uint8Array): void {
  let count = 0;
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b || byte === 0x2c) count++;
  if (count > VALUES_MAX) throw new Error(`it has more than ${VALUES_MAX} values`);
}

/** The observations in a response; null for other responses. Throws for one with too many values. */
function shownIn(bytes: Uint8Array): Shown | null {
  requireFew(bytes);
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

/** Runs on a thread with a bounded heap, like everything that parses untrusted responses. */
export function claim({ bytes, instrument }: ClaimTask): Claim {
  const document = shownIn(bytes);
  if (document === null) return null;
  const receipt = document.kind === 'misshapen' ? '' : (answerAt(document, instrument)?.receipt ?? '');
  return { signer: parseNote(receipt)?.signatures[0]?.name ?? null };
}

/** The requested observation. A bundle has several. If there is only one, verifying it also checks its time. */
function answerAt(document: Exclude<Shown, { kind: 'misshapen' }>, address: string) {
  const until = askedFor(address)?.until ?? null;
  const answers = answersIn(document);
  return until === null || answers.length === 1 ? answers.at(-1) : answers.findLast((one) => timeOf(one) < until);
}

function answersIn(document: Exclude<Shown, { kind: 'misshapen' }>): (Preview | Evidence['records'][number])[] {
  if (document.kind === 'evidence') return document.bundle.records;
  return [document.kind === 'preview' ? document.preview : document.record];
}

/** Verifies a response by the rules of the domain records (protocol 5.7, 5.8). */
export function observe(task: ObservationTask): ObservationFound {
  const keys = keysIn(task.keys);
  if (keys.length === 0) return { fault: 'its service lists no keys' };
  const seen = verified(task.bytes, task.instrument, keys, task.signer);
  if ('fault' in seen) return seen;
  const { receipt, hash, observation, key } = seen;
  const current = task.current === null ? seen : verified(task.current, '', keys, null);
  const unseen =
    'fault' in current ? current.fault : current.receipt.domain === receipt.domain ? null : 'it is of another domain';
  const newer =
    'fault' in current || unseen !== null || current.receipt.seq <= receipt.seq ? null : current.observation;
  const text = renderedObservation(receipt, fieldsOf(observation));
  return { observation, receipt: hash, observed_by: vkey(key.name, key.publicKey), text, newer, unseen };
}

function verified(
  bytes: Uint8Array,
  address: string,
  keys: VerifyingKey[],
  signer: string | null,
): { fault: string } | { receipt: ObservationReceipt; hash: string; observation: CitedObservation; key: VerifyingKey } {
  const document = shownIn(bytes);
  if (document === null) return { fault: 'it shows no observation' };
  const [fault] = documentFaults(document, keys, verifyNode);
  if (fault !== undefined || document.kind === 'misshapen') return { fault: fault ?? 'it has another form' };
  if (askedFor(address) === null) return { fault: 'the as_of of its address is not a day or a time' };
  const answer = answerAt(document, address);
  if (answer === undefined) return { fault: 'it has no observation from before the time that its address asks for' };
  const observation = citedObservation(answer);
  if (JSON.stringify(observation).length > OBSERVATION_MAX) {
    return { fault: `the observation is longer than ${OBSERVATION_MAX} characters` };
  }
  // The validity periods of keys are checked above, with the corrections of the service's clock.
  const own = signer === null ? keys : keys.filter(({ name }) => name === signer);
  const ever = own.map((key) => ({ ...key, nbf: 0, retired_at: null }));
  const { receipt, hash, faults } = observationFaults(observation, address, ever, verifyNode);
  const key = keyOfNote(own, receipt?.kid, parseNote(observation.receipt) ?? { signatures: [] });
  return receipt === null || key === null || faults[0] !== undefined
    ? { fault: faults[0] ?? 'it has no receipt' }
    : { receipt, hash, observation, key };
}

function timeOf({ receipt }: Pick<FullRecord, 'receipt'>): number {
  return Date.parse(parseObservation(parseNote(receipt)?.text ?? '')?.observed_at ?? '');
}

function keysIn(bytes: Uint8Array): VerifyingKey[] {
  try {
    requireFew(bytes);
    return keysOf(parseIJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return [];
  }
}

import { verifyNode } from '../../../proof/ed25519.ts';
import { keyOfNote } from '../../../proof/key-text.ts';
import type { VerifyingKey } from '../../../proof/keyring.ts';
import { parseNote } from '../../../proof/note.ts';
import { checkReceipt } from '../../../proof/records/verify/document-faults.ts';
import { type CheckedReceipt, lifeRules, signatureRules } from '../../../proof/records/verify/observation-rules.ts';
import type { Check } from '../verify/check.ts';

/** Maximum number of faults that one check lists individually. */
const FAULTS_MAX = 8;

/** The keys for checking a document, and their source, in words. */
export interface Keys {
  listed: VerifyingKey[];
  from: string;
}

/** The outcome of one check: its finding when it holds, else its faults. */
export function check(title: string, faults: string[], found: string): Check {
  return { title, holds: faults.length === 0, found: faults.length === 0 ? [found] : faults.map(sentence) };
}

/** The checks of every receipt, in order. */
export function* receiptChecks(text: string, keys: Keys): Generator<Check, CheckedReceipt> {
  const checked = checkReceipt(text, keys.listed, verifyNode);
  const { receipt } = checked;
  if (receipt === null) {
    yield check('It is a receipt', signatureRules(checked), '');
    return checked;
  }
  yield check(
    'It is a receipt',
    [],
    `Observation no. ${receipt.seq} of ${receipt.domain}, made ${spoken(receipt.observed_at)}. It commits to ${receipt.record_fields} fields under ${receipt.record_root}.`,
  );
  const name = keyOfNote(keys.listed, receipt.kid, parseNote(text) ?? { signatures: [] })?.name;
  yield check(
    'The service’s key signed it',
    signatureRules(checked),
    `The Ed25519 signature holds under the key of “${name}”, listed in ${keys.from} as ${receipt.kid}.`,
  );
  if (checked.signature === 'holds') {
    yield check(
      'The key was in force then',
      lifeRules(checked),
      'The observation falls into the time in which that key signed.',
    );
  }
  return checked;
}

/** The faults of one check, or the first of many. */
export function few(faults: string[]): string[] {
  const first = faults.slice(0, FAULTS_MAX);
  return faults.length > FAULTS_MAX ? [...first, `and ${faults.length - FAULTS_MAX} more`] : first;
}

/** A time in readable form: `on 2026-11-21 at 09:00:00 UTC`. */
export function spoken(iso: string): string {
  return `on ${iso.slice(0, 10)} at ${iso.slice(11, 19)} UTC`;
}

function sentence(fault: string): string {
  const whole = `${fault.charAt(0).toUpperCase()}${fault.slice(1)}`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

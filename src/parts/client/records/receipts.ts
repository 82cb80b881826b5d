import type { TimeCorrection } from '../../../proof/clock-note.ts';
import { keyOfNote } from '../../../proof/key-text.ts';
import { parseNote } from '../../../proof/note.ts';
import { type ObservationReceipt, parseObservation } from '../../../proof/records/receipt.ts';
import { type CheckedReceipt, lifeRules, signatureRules } from '../../../proof/records/verify/observation-rules.ts';
import type { Check } from '../verify/check.ts';
import { type ListedKey, readReceipt } from '../verify/crypto.ts';

/** Maximum number of faults that one check lists individually. */
const FAULTS_MAX = 8;

/** The keys for checking a document, and their source, in words. */
export interface Keys {
  listed: ListedKey[];
  from: string;
}

/** The outcome of one check: its finding when it holds, else its faults. */
export function check(title: string, faults: string[], found: string): Check {
  return { title, holds: faults.length === 0, found: faults.length === 0 ? [found] : faults.map(sentence) };
}

const FORM = { parse: parseObservation, dated: (receipt: ObservationReceipt) => receipt.observed_at };

/** Reads a receipt and verifies its signature. */
export const checkReceipt = (text: string, { listed }: Keys, corrections: readonly TimeCorrection[] = []) =>
  readReceipt(text, FORM, listed, corrections);

/** The checks of every receipt, in order. */
export async function* receiptChecks(text: string, keys: Keys): AsyncGenerator<Check, CheckedReceipt> {
  const checked = await checkReceipt(text, keys);
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

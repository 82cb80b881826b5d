import { sha256 } from './basis.ts';
import type { CheckedReceipt, Generation } from './chain.ts';
import { chainRules, generationRules } from './chain.ts';
import type { TimeCorrection } from './clock-note.ts';
import { trueIso } from './clock-note.ts';
import { keyOfNote } from './key-of-note.ts';
import type { VerifyingKey } from './keyring.ts';
import type { Verify } from './note.ts';
import { parseNote } from './note.ts';
import type { Receipt } from './receipt.ts';
import { parseReceipt } from './receipt.ts';
import { isSignedBy } from './verifier-key.ts';

/** The faults of a single generation, and its receipt if it can be parsed. */
export function generationFaults(
  generation: Generation,
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): { receipt: Receipt | null; time: string; faults: string[] } {
  const seen = checkReceipt(generation, keys, verify, corrections);
  return { receipt: seen.receipt, time: seen.time, faults: generationRules(generation, seen) };
}

/** The faults of the chain of one piece's generations, oldest first; empty when there are none. */
export function chainFaults(
  generations: Generation[],
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): string[] {
  return chainRules(
    generations.map((generation) => ({ generation, seen: checkReceipt(generation, keys, verify, corrections) })),
  );
}

function checkReceipt(
  { receipt: text }: Generation,
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[],
): CheckedReceipt {
  const note = parseNote(text);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null, time: '' };
  const key = keyOfNote(keys, receipt.kid, note);
  const signature = key === null ? 'no_such_key' : isSignedBy(note, key, verify) ? 'holds' : 'fails';
  const time = trueIso(receipt.filed_at, receipt.seq, corrections);
  return { receipt, hash: sha256(note.text), signature, key, time };
}

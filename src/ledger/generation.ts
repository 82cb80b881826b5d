import { sha256 } from './basis.ts';
import type { CheckedReceipt, Generation } from './chain.ts';
import { chainRules, generationRules } from './chain.ts';
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
): { receipt: Receipt | null; faults: string[] } {
  const seen = checkReceipt(generation, keys, verify);
  return { receipt: seen.receipt, faults: generationRules(generation, seen) };
}

/** The faults of the chain of one piece's generations, oldest first; empty when there are none. */
export function chainFaults(generations: Generation[], keys: VerifyingKey[], verify: Verify): string[] {
  return chainRules(generations.map((generation) => ({ generation, seen: checkReceipt(generation, keys, verify) })));
}

function checkReceipt({ receipt: text }: Generation, keys: VerifyingKey[], verify: Verify): CheckedReceipt {
  const note = parseNote(text);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null };
  const key = keys.find(({ kid }) => kid === receipt.kid) ?? null;
  const signature = key === null ? 'no_such_key' : isSignedBy(note, key, verify) ? 'holds' : 'fails';
  return { receipt, hash: sha256(note.text), signature, key };
}

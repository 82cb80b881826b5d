import * as z from 'zod';
import type { DoorKey } from '../ledger/keyring.ts';
import type { Verify } from '../ledger/note.ts';
import { parseNote } from '../ledger/note.ts';
import { saidRules } from './answer-rules.ts';
import { parseDisclosure } from './disclosure.ts';
import { previewFaults, recordFaults } from './observation-faults.ts';
import { parseObservation } from './receipt.ts';

/** What both kinds of answer are held to; whatever else they say is compared where it was disclosed. */
const Answer = z.discriminatedUnion('preview', [
  z.looseObject({
    preview: z.literal(true),
    receipt: z.string(),
    disclosures: z.array(z.object({ index: z.int(), disclosure: z.string(), path: z.array(z.string()) })),
  }),
  z.looseObject({ preview: z.literal(false), receipt: z.string(), disclosures: z.array(z.string()) }),
]);

/**
 * Checks an answer of the service, a preview or a full record, as anybody who
 * has it can: its proof, and that all it says beside the proof is what was
 * signed. What is not an answer is itself a fault, never an exception.
 */
export function answerFaults(json: unknown, keys: DoorKey[], verify: Verify): string[] {
  const parsed = Answer.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return [`this is no answer of the records service: ${issue?.path.join('.') || 'it'}: ${issue?.message}`];
  }
  const answer = parsed.data;
  const faults = answer.preview ? previewFaults(answer, keys, verify) : recordFaults(answer, keys, verify);
  const texts = answer.preview ? answer.disclosures.map(({ disclosure }) => disclosure) : answer.disclosures;
  const receipt = parseObservation(parseNote(answer.receipt)?.text ?? '');
  return [...faults, ...saidRules(answer, texts.map(parseDisclosure), receipt)];
}

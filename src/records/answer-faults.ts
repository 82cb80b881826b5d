import canonicalize from 'canonicalize';
import * as z from 'zod';
import type { DoorKey } from '../ledger/keyring.ts';
import type { Verify } from '../ledger/note.ts';
import { parseNote } from '../ledger/note.ts';
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

/** Members of an answer that are fields of the record by the same name. */
const FIELDS = [
  'domain',
  'unicode',
  'registrable_domain',
  'observed_at',
  'summary',
  'certificate',
  'certificate_status',
  'wildcard',
  'services',
] as const;

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
  const signed = new Map(
    texts.map((text) => parseDisclosure(text)).flatMap((field) => (field === null ? [] : [[field.name, field.value]])),
  );
  const receipt = parseObservation(parseNote(answer.receipt)?.text ?? '');
  const differs = (said: unknown, name: string): boolean => !signed.has(name) || !isSame(said, signed.get(name));

  if (receipt !== null && answer.seq !== undefined && answer.seq !== receipt.seq)
    faults.push('seq is not the receipt’s');
  for (const name of FIELDS) {
    if (answer[name] !== undefined && differs(answer[name], name)) faults.push(`${name} is not what was signed`);
  }
  if (answer.nameservers !== undefined) {
    const { values } = (signed.get('signals.NS') ?? {}) as { values?: unknown };
    if (!isSame(answer.nameservers, values)) faults.push('nameservers is not what was signed');
  }
  if (answer.signals !== undefined) {
    const said = Object.entries((answer.signals ?? {}) as object);
    for (const [type, signal] of said) {
      if (differs(signal, `signals.${type}`)) faults.push(`signals.${type} is not what was signed`);
    }
    const inRecord = [...signed.keys()].filter((name) => name.startsWith('signals.'));
    if (inRecord.length !== said.length) faults.push('signals leaves out what was signed');
  }
  return faults;
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    return canonicalize(a) === canonicalize(b);
  } catch {
    // Half a surrogate pair has no canonical form.
    return false;
  }
}

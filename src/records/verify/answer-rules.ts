import canonicalize from 'canonicalize';
import { membersIn } from '../../narrow.ts';
import type { Disclosed } from '../disclosure.ts';
import type { ObservationReceipt } from '../receipt.ts';

/** Members of an answer that carry a field of the record under the same name. */
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
 * The members of an answer (a preview or a full record) that differ from what was signed. `disclosed` holds the fields
 * of its disclosures, with null for a malformed one. It does no hashing, so it also runs in a reader's browser.
 */
export function answerRules(
  answer: Record<string, unknown>,
  disclosed: (Disclosed | null)[],
  receipt: ObservationReceipt | null,
): string[] {
  const faults: string[] = [];
  const signed = new Map(disclosed.flatMap((field) => (field === null ? [] : [[field.name, field.value]])));
  const differs = (said: unknown, name: string): boolean => !signed.has(name) || !isSame(said, signed.get(name));

  if (receipt !== null && answer.seq !== undefined && answer.seq !== receipt.seq)
    faults.push('seq is not the receipt’s');
  for (const name of FIELDS) {
    if (answer[name] !== undefined && differs(answer[name], name)) faults.push(`${name} is not what was signed`);
  }
  if (answer.nameservers !== undefined) {
    const { values } = membersIn(signed.get('signals.NS'));
    if (!isSame(answer.nameservers, values)) faults.push('nameservers is not what was signed');
  }
  if (answer.signals !== undefined) {
    const said = Object.entries(membersIn(answer.signals));
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
    // A lone surrogate has no canonical form.
    return false;
  }
}

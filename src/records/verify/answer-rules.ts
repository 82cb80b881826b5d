import canonicalize from 'canonicalize';
import type { Disclosed } from '../disclosure.ts';
import type { ObservationReceipt } from '../receipt.ts';

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
 * What an answer, a preview or a full record, says beside its proof that is not
 * what was signed. `disclosed` are the fields of its disclosures, null where a text
 * is none. Nothing here hashes: a reader's browser compares by it too.
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

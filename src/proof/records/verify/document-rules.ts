import canonicalize from 'canonicalize';
import { membersIn } from '../../narrow.ts';
import { badgeRules } from '../badge.ts';
import { type Disclosed, parseDisclosure } from '../disclosure.ts';
import type { Evidence } from '../evidence.ts';
import type { FullRecord, Preview, ShownField } from '../preview.ts';
import type { ObservationReceipt } from '../receipt.ts';
import type { ProvenancePage } from './documents.ts';
import { type CheckedReceipt, disclosureRules, linkRules } from './observation-rules.ts';

/**
 * Compares what a document shows with what was signed (protocol 5.7). The caller checks the receipts and computes the
 * roots first, with Node's crypto or in a reader's browser, so that both reach the same verdict. An unreadable receipt
 * is the only fault reported for its document.
 */

/** The faults of an answer (a preview or a full record), by the part that was compared. */
export interface AnswerFaults {
  names: string[];
  fields: string[];
  content: string[];
  held_back: string[];
}

/** `roots` are the roots to which the paths of the disclosures lead; null where a path does not fit its index. */
export function previewRules(preview: Preview, { receipt }: CheckedReceipt, roots: (string | null)[]): AnswerFaults {
  if (receipt === null) return { names: [], fields: [], content: [], held_back: [] };
  const { disclosures, held_back } = preview;
  const disclosed = disclosures.map(({ disclosure }) => parseDisclosure(disclosure));
  const hidden = receipt.record_fields - disclosures.length;
  return {
    names: nameRules(preview, receipt),
    fields: shownFieldRules(disclosures, receipt, roots),
    content: answerRules({ ...preview }, disclosed, receipt),
    held_back:
      held_back.fields === hidden
        ? []
        : [`it says that ${held_back.fields} fields are held back, but ${hidden} of the signed record are not shown`],
  };
}

/** `root` is the root over all disclosures; null when there are none. */
export function recordRules(record: FullRecord, { receipt }: CheckedReceipt, root: string | null): AnswerFaults {
  if (receipt === null) return { names: [], fields: [], content: [], held_back: [] };
  return {
    names: nameRules(record, receipt),
    fields: allFieldRules(record.disclosures, receipt, root),
    content: answerRules({ ...record }, record.disclosures.map(parseDisclosure), receipt),
    held_back: [],
  };
}

export function shownFieldRules(
  disclosures: ShownField[],
  receipt: ObservationReceipt,
  roots: (string | null)[],
): string[] {
  const disclosed = disclosures.map(({ disclosure }) => parseDisclosure(disclosure));
  const astray = disclosures.filter((_, index) => roots[index] !== receipt.record_root);
  return [
    ...disclosureRules(disclosed, receipt, false),
    ...astray.map(
      ({ index }) =>
        `seq ${receipt.seq}: the path of disclosure ${index} does not lead to the record_root that was signed`,
    ),
  ];
}

export function allFieldRules(disclosures: string[], receipt: ObservationReceipt, root: string | null): string[] {
  return [
    ...disclosureRules(disclosures.map(parseDisclosure), receipt, true),
    ...(root === receipt.record_root
      ? []
      : [`seq ${receipt.seq}: the disclosures do not give the record_root that was signed`]),
  ];
}

/** Checks the rows of a page of receipts, newest first, and their chain. `seen` is in the order of the page. */
export function provenanceRules({ domain, items, next_cursor }: ProvenancePage, seen: CheckedReceipt[]): string[] {
  const rows = items.flatMap((item, index) => {
    const receipt = seen[index]?.receipt ?? null;
    if (receipt === null) return [];
    return (['seq', 'observed_at', 'record_root'] as const)
      .filter((name) => item[name] !== receipt[name])
      .map((name) => `row ${index + 1} says ${name} ${item[name]}, but its receipt says ${receipt[name]}`);
  });
  // Without a next cursor the page claims to end with the domain's first observation.
  return [...rows, ...chainRules(seen.toReversed(), domain, next_cursor === null)];
}

/** Checks the receipts of one domain, oldest first. `whole` means that they begin with the domain's first. */
export function chainRules(seen: CheckedReceipt[], domain: string, whole: boolean): string[] {
  const links = seen.flatMap((one, index) => (index > 0 || whole ? linkRules(seen[index - 1] ?? null, one) : []));
  const isOther = seen.some(({ receipt }) => receipt !== null && receipt.domain !== domain);
  return [
    ...(seen.length === 0 ? ['there is no observation'] : []),
    ...links,
    ...(isOther ? [`a receipt is not of ${domain}`] : []),
  ];
}

/** Checks the keys in a bundle. `own` are its valid keys; `listed` are the trusted keys, or null to trust its own. */
export function bundleKeyRules(
  { keys }: Pick<Evidence, 'keys'>,
  own: { kid: string }[],
  listed: { kid: string }[] | null,
): string[] {
  const unsound = keys.length - own.length;
  const strange = listed === null ? [] : own.filter(({ kid }) => !listed.some((key) => key.kid === kid));
  return [
    ...strange.map(({ kid }) => `no key with kid ${kid} is known: it belongs to somebody else, or to another service`),
    ...(unsound > 0 ? [`${unsound} of its keys are invalid: kid, x, vkey and times do not agree`] : []),
    ...(keys.length === 0 ? ['it has no keys'] : []),
  ];
}

export function badgeContentRules(svg: string, { receipt }: CheckedReceipt): string[] {
  return receipt === null ? [] : badgeRules(svg, receipt);
}

function nameRules(answer: Preview | FullRecord, receipt: ObservationReceipt): string[] {
  return (['domain', 'seq', 'observed_at'] as const)
    .filter((name) => answer[name] !== receipt[name])
    .map((name) => `it says ${name} ${answer[name]}, but the receipt says ${receipt[name]}`);
}

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
function answerRules(
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

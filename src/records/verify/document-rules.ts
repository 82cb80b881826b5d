import { badgeRules } from '../badge.ts';
import { parseDisclosure } from '../disclosure.ts';
import type { Evidence } from '../evidence.ts';
import type { FullRecord, Preview, ShownField } from '../preview.ts';
import type { ObservationReceipt } from '../receipt.ts';
import { answerRules } from './answer-rules.ts';
import type { ProvenancePage } from './documents.ts';
import type { CheckedReceipt } from './observation-rules.ts';
import { disclosureRules, linkRules } from './observation-rules.ts';

/**
 * What does not hold between what a document shows and what was signed. Nothing here
 * hashes: whoever asks has looked at the receipts and found the roots, the command
 * line with Node's means and a reader's browser with its own, so that the two cannot
 * judge apart. Of a receipt that cannot be read, that is the fault and there is no more.
 */

/** An answer, a preview or a full record, by what is compared. */
export interface AnswerFaults {
  /** Domain, number and time beside those of the receipt. */
  names: string[];
  /** The disclosed fields and the root that was signed. */
  fields: string[];
  /** What is said beside the fields. */
  content: string[];
  /** How much is said to be held back. */
  held_back: string[];
}

/** `roots` are those that the paths of the disclosures lead to; null where a path does not fit its place. */
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

/** `root` is that over all its disclosures; null when there are none. */
export function recordRules(record: FullRecord, { receipt }: CheckedReceipt, root: string | null): AnswerFaults {
  if (receipt === null) return { names: [], fields: [], content: [], held_back: [] };
  return {
    names: nameRules(record, receipt),
    fields: allFieldRules(record.disclosures, receipt, root),
    content: answerRules({ ...record }, record.disclosures.map(parseDisclosure), receipt),
    held_back: [],
  };
}

/** What does not hold in the fields that a preview shows, and in their paths. */
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

/** What does not hold in all fields of a record, and in the root over them. */
export function allFieldRules(disclosures: string[], receipt: ObservationReceipt, root: string | null): string[] {
  return [
    ...disclosureRules(disclosures.map(parseDisclosure), receipt, true),
    ...(root === receipt.record_root
      ? []
      : [`seq ${receipt.seq}: the disclosures do not give the record_root that was signed`]),
  ];
}

/** What a page of receipts, newest first, says beside them, and whether they are a chain. `seen` are theirs, in its order. */
export function provenanceRules({ domain, items, next_cursor }: ProvenancePage, seen: CheckedReceipt[]): string[] {
  const rows = items.flatMap((item, index) => {
    const receipt = seen[index]?.receipt ?? null;
    if (receipt === null) return [];
    return (['seq', 'observed_at', 'record_root'] as const)
      .filter((name) => item[name] !== receipt[name])
      .map((name) => `row ${index + 1} says ${name} ${item[name]}, and its receipt ${receipt[name]}`);
  });
  // The last page says that nothing is before it.
  return [...rows, ...chainRules(seen.toReversed(), domain, next_cursor === null)];
}

/** What does not hold in the receipts of one domain, oldest first; `whole` when they begin with its first. */
export function chainRules(seen: CheckedReceipt[], domain: string, whole: boolean): string[] {
  const links = seen.flatMap((one, index) => (index > 0 || whole ? linkRules(seen[index - 1] ?? null, one) : []));
  const isOther = seen.some(({ receipt }) => receipt !== null && receipt.domain !== domain);
  return [
    ...(seen.length === 0 ? ['there is no observation'] : []),
    ...links,
    ...(isOther ? [`a receipt is not of ${domain}`] : []),
  ];
}

/** What does not hold in the keys that a bundle brings. `own` are those of them that are sound; `listed` is who is trusted, null for themselves. */
export function bundleKeyRules(
  { keys }: Pick<Evidence, 'keys'>,
  own: { kid: string }[],
  listed: { kid: string }[] | null,
): string[] {
  const unsound = keys.length - own.length;
  const strange = listed === null ? [] : own.filter(({ kid }) => !listed.some((key) => key.kid === kid));
  return [
    ...strange.map(({ kid }) => `no key with kid ${kid} is known: somebody else’s, or of another service`),
    ...(unsound > 0 ? [`${unsound} of its keys are no keys: kid, x, vkey and times do not fit`] : []),
    ...(keys.length === 0 ? ['it has no keys'] : []),
  ];
}

/** What a badge shows beside its receipt. */
export function badgeContentRules(svg: string, { receipt }: CheckedReceipt): string[] {
  return receipt === null ? [] : badgeRules(svg, receipt);
}

function nameRules(answer: Preview | FullRecord, receipt: ObservationReceipt): string[] {
  return (['domain', 'seq', 'observed_at'] as const)
    .filter((name) => answer[name] !== receipt[name])
    .map((name) => `it says ${name} ${answer[name]}, and the receipt ${receipt[name]}`);
}

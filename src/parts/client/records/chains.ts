import { correctionsIn } from '../../../proof/clock-note.ts';
import { verifyNode } from '../../../proof/ed25519.ts';
import { checkClockNotes } from '../../../proof/generation.ts';
import { keysOf } from '../../../proof/keyring.ts';
import { present } from '../../../proof/narrow.ts';
import type { Evidence } from '../../../proof/records/evidence.ts';
import { checkReceipt, RECORDS, rootOfAll } from '../../../proof/records/verify/document-faults.ts';
import {
  bundleKeyRules,
  chainRules,
  provenanceRules,
  recordRules,
} from '../../../proof/records/verify/document-rules.ts';
import type { ProvenancePage } from '../../../proof/records/verify/documents.ts';
import { type CheckedReceipt, receiptRules } from '../../../proof/records/verify/observation-rules.ts';
import type { Check } from '../verify/check.ts';
import { pacer } from './pacer.ts';
import { check, few, type Keys, spoken } from './receipts.ts';

/** The checks of an evidence bundle: its keys, every receipt, the chain, every record. */
export async function* bundleChecks(bundle: Evidence, keys: Keys): AsyncGenerator<Check> {
  const { domain, records } = bundle;
  yield check(
    'The keys in it are the service’s',
    bundleKeyRules(bundle, keysOf(bundle), keys.listed),
    `Each key that the bundle brings is listed in ${keys.from}.`,
  );
  const checked = yield* signatureChecks(
    records.map(({ receipt }) => receipt),
    keys,
    bundle.clock,
  );
  yield check(
    'The chain begins with the first observation and has no gap',
    few(chainRules(checked, domain, true)),
    `${linked(checked, domain)}, and the first names none. Whether more followed later, a bundle cannot say.`,
  );
  const faults: string[] = [];
  const pace = pacer();
  for (const [index, record] of records.entries()) {
    await pace();
    const { names, fields, content } = recordRules(record, present(checked[index]), rootOfAll(record.disclosures));
    faults.push(
      ...[...names, ...fields, ...content].map((fault) => `seq ${record.seq}: ${fault.replace(/^seq \d+: /, '')}`),
    );
  }
  yield check(
    'Every record is what was signed',
    few(faults),
    `${counted(records.length, 'record')} hashed anew, field by field: each gives the root in its receipt, and says nothing beside it that was not signed.`,
  );
}

/** The checks of a page of a domain's receipts. */
export async function* provenanceChecks(page: ProvenancePage, keys: Keys): AsyncGenerator<Check> {
  const receipts = page.items.map(({ receipt }) => receipt);
  const checked = yield* signatureChecks(receipts, keys, page.clock);
  yield check(
    'The receipts are a chain',
    few(provenanceRules(page, checked)),
    `${linked(checked.toReversed(), page.domain)}. Each row says the number, time and root of its receipt.`,
  );
}

async function* signatureChecks(
  receipts: string[],
  keys: Keys,
  notes: string[] = [],
): AsyncGenerator<Check, CheckedReceipt[]> {
  const checked: CheckedReceipt[] = [];
  const clock = checkClockNotes(notes, RECORDS, keys.listed, verifyNode);
  const corrections = correctionsIn(clock.statements);
  const pace = pacer();
  for (const receipt of receipts) {
    await pace();
    checked.push(checkReceipt(receipt, keys.listed, verifyNode, corrections));
  }
  yield check(
    'The service’s keys signed every receipt',
    few([...clock.faults, ...checked.flatMap(receiptRules)]),
    checked.length === 1
      ? `Its Ed25519 signature holds under a key listed in ${keys.from} that was in force then.`
      : `All ${checked.length} Ed25519 signatures hold under keys listed in ${keys.from} that were in force then.`,
  );
  return checked;
}

/** Describes the observations of a chain, oldest first. */
function linked(checked: CheckedReceipt[], domain: string): string {
  const [first, last] = [checked[0]?.receipt, checked.at(-1)?.receipt];
  if (!first || !last) return '';
  return `${counted(checked.length, 'observation')} of ${domain}, from no. ${first.seq} ${spoken(first.observed_at)} to no. ${last.seq} ${spoken(last.observed_at)}; each names the hash of the one before it`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `All ${count} ${noun}s`;
}

import type { Evidence } from '../../../records/evidence.ts';
import { bundleKeyRules, chainRules, provenanceRules, recordRules } from '../../../records/verify/document-rules.ts';
import type { ProvenancePage } from '../../../records/verify/documents.ts';
import type { SeenReceipt } from '../../../records/verify/observation-rules.ts';
import { receiptRules } from '../../../records/verify/observation-rules.ts';
import type { Check } from '../verify/check.ts';
import { keysIn } from '../verify/seals.ts';
import type { Keys } from './receipts.ts';
import { check, see, spoken } from './receipts.ts';
import { rootOfAll } from './tree.ts';

/** So many faults of one check are told one by one. */
const MOST_TOLD = 8;

/** The checks of an evidence bundle: whose keys it bears, every receipt, the chain, every record. */
export async function* bundleChecks(bundle: Evidence, keys: Keys): AsyncGenerator<Check> {
  const { domain, records } = bundle;
  yield check(
    'The keys in it are the service’s',
    bundleKeyRules(bundle, (await keysIn(bundle)) ?? [], keys.listed),
    `Each key that the bundle brings is listed in ${keys.from}.`,
  );
  const seen = yield* signatureChecks(
    records.map(({ receipt }) => receipt),
    keys,
  );
  yield check(
    'The chain begins with the first observation and has no gap',
    few(chainRules(seen, domain, true)),
    `${linked(seen, domain)}, and the first names none. Whether more followed later, a bundle cannot say.`,
  );
  const faults: string[] = [];
  for (const [index, record] of records.entries()) {
    const { names, fields, said } = recordRules(
      record,
      seen[index] as SeenReceipt,
      await rootOfAll(record.disclosures),
    );
    faults.push(
      ...[...names, ...fields, ...said].map((fault) => `seq ${record.seq}: ${fault.replace(/^seq \d+: /, '')}`),
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
  const seen = yield* signatureChecks(receipts, keys);
  yield check(
    'The receipts are a chain',
    few(provenanceRules(page, seen)),
    `${linked(seen.toReversed(), page.domain)}. Each row says the number, time and root of its receipt.`,
  );
}

async function* signatureChecks(receipts: string[], keys: Keys): AsyncGenerator<Check, SeenReceipt[]> {
  const seen: SeenReceipt[] = [];
  for (const receipt of receipts) seen.push(await see(receipt, keys));
  yield check(
    'The service’s keys signed every receipt',
    few(seen.flatMap(receiptRules)),
    seen.length === 1
      ? `Its Ed25519 signature holds under a key listed in ${keys.from} that was in force then.`
      : `All ${seen.length} Ed25519 signatures hold under keys listed in ${keys.from} that were in force then.`,
  );
  return seen;
}

/** Which observations stand in a chain, oldest first, in words. */
function linked(seen: SeenReceipt[], domain: string): string {
  const [first, last] = [seen[0]?.receipt, seen.at(-1)?.receipt];
  if (!first || !last) return '';
  return `${counted(seen.length, 'observation')} of ${domain}, from no. ${first.seq} ${spoken(first.observed_at)} to no. ${last.seq} ${spoken(last.observed_at)}; each names the hash of the one before it`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `All ${count} ${noun}s`;
}

function few(faults: string[]): string[] {
  const told = faults.slice(0, MOST_TOLD);
  return faults.length > MOST_TOLD ? [...told, `and ${faults.length - MOST_TOLD} more`] : told;
}

import { saidRules } from '../../../records/answer-rules.ts';
import { parseDisclosure } from '../../../records/disclosure.ts';
import type { Evidence } from '../../../records/evidence.ts';
import type { SeenReceipt } from '../../../records/observation-rules.ts';
import { linkRules, receiptRules } from '../../../records/observation-rules.ts';
import type { Check } from '../verify/check.ts';
import { keysIn } from '../verify/seals.ts';
import { recordRootFaults } from './answers.ts';
import type { Keys } from './receipts.ts';
import { check, see, spoken } from './receipts.ts';

/** So many faults of one check are told one by one. */
const MOST_TOLD = 8;

/** The checks of an evidence bundle: whose keys it bears, every receipt, the chain, every record. */
export async function* bundleChecks(bundle: Evidence, keys: Keys): AsyncGenerator<Check> {
  const { domain, records } = bundle;
  const own = (await keysIn(bundle)) ?? [];
  const strangers = own.filter(({ kid }) => !keys.listed.some((key) => key.kid === kid));
  const unsound = bundle.keys.length - own.length;
  yield check(
    'The keys in it are the service’s',
    [
      ...strangers.map(({ kid }) => `${keys.from} lists no key ${kid}: somebody else’s, or of another service`),
      ...(unsound > 0 ? [`${unsound} of its keys are no keys: kid, x and vkey do not go together`] : []),
      ...(bundle.keys.length === 0 ? ['it has no keys'] : []),
    ],
    `Each key that the bundle brings is listed in ${keys.from}.`,
  );

  const receipts = records.map(({ receipt }) => receipt);
  const seen = yield* chainChecks(receipts, domain, keys, true);

  const faults: string[] = [];
  for (const [index, record] of records.entries()) {
    const one = seen[index] as SeenReceipt;
    faults.push(...(await recordRootFaults(record, one)));
    const said = saidRules({ ...record }, record.disclosures.map(parseDisclosure), one.receipt);
    faults.push(...said.map((fault) => `seq ${record.seq}: ${fault}`));
  }
  yield check(
    'Every record is what was signed',
    few(faults),
    `${counted(records.length, 'record')} hashed anew, field by field: each gives the root in its receipt, and says nothing beside it that was not signed.`,
  );
}

/** The checks of receipts of one domain, oldest first; `whole` when they begin with its first. */
export async function* chainChecks(
  receipts: string[],
  domain: string,
  keys: Keys,
  whole: boolean,
): AsyncGenerator<Check, SeenReceipt[]> {
  const seen: SeenReceipt[] = [];
  for (const receipt of receipts) seen.push(await see(receipt, keys));
  const signed = seen.flatMap((one) => receiptRules(one));
  if (receipts.length === 0) signed.push('there is no observation');
  yield check(
    'The service’s keys signed every receipt',
    few(signed),
    seen.length === 1
      ? `Its Ed25519 signature holds under a key listed in ${keys.from} that was in force then.`
      : `All ${seen.length} Ed25519 signatures hold under keys listed in ${keys.from} that were in force then.`,
  );
  const links = seen.flatMap((one, index) => (index > 0 || whole ? linkRules(seen[index - 1] ?? null, one) : []));
  if (seen.some(({ receipt }) => receipt !== null && receipt.domain !== domain))
    links.push(`a receipt is not of ${domain}`);
  const [first, last] = [seen[0]?.receipt, seen.at(-1)?.receipt];
  yield check(
    whole ? 'The chain is whole' : 'The receipts are a chain',
    few(links),
    first && last
      ? `${counted(seen.length, 'observation')} of ${domain}, from no. ${first.seq} ${spoken(first.observed_at)} to no. ${last.seq} ${spoken(last.observed_at)}; each names the hash of the one before it${whole ? ', and the first names none' : ''}.`
      : '',
  );
  return seen;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `All ${count} ${noun}s`;
}

function few(faults: string[]): string[] {
  const told = faults.slice(0, MOST_TOLD);
  return faults.length > MOST_TOLD ? [...told, `and ${faults.length - MOST_TOLD} more`] : told;
}

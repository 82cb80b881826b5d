import { unsignedWords } from '../../proof/members.ts';
import { plural } from '../../shared/plural.ts';
import type { CheckedProof, Trust } from './verify.ts';
import { type CheckedRecords, saidOf } from './verify-records.ts';
import { isAddress } from './verify-sources.ts';

const COMPARE = 'to know whose they are, compare them with --keys or --vkey.';
const OWN_KEYS = `The keys are the ones that come with the proof; ${COMPARE} Only --keys knows when each key was in force.`;
const SITE_KEYS = `The keys are the ones that the same site lists; ${COMPARE}`;
const PROVES = 'A receipt proves who filed the piece and that it has not changed, never that a claim is true.';
const RECORD_PROVES =
  'A receipt proves what the service saw and when, and that it has not changed, never that a name server told the truth.';

const NOBODY_LOOKED =
  'The log was not checked: with --policy, a proof must show that its receipt is in a log whose history witnesses have seen.';

/** Describes what was verified at an address, in lines for people, who may have named keys and a policy. */
export function verifiedLines(where: string, checked: (CheckedProof | CheckedRecords)[], { keys, policy }: Trust) {
  const records = checked.filter((one) => 'kind' in one);
  const proofs = checked.filter((one) => 'proof' in one);
  return [
    ...(records.length > 0 ? records.flatMap(recordLines) : proofLines(proofs)),
    ...(keys === undefined ? [keysLine(where, checked)] : []),
    records.length > 0 ? RECORD_PROVES : PROVES,
    ...(policy === undefined ? [NOBODY_LOOKED] : checked.flatMap(loggedLines)),
  ];
}

function proofLines(checked: CheckedProof[]): string[] {
  const faulty = checked.filter(({ faults }) => faults.length > 0);
  const [only] = checked.length === 1 && faulty.length === 0 ? checked : [];
  return [
    ...faulty.flatMap(({ proof, faults }) => faults.map((fault) => `${proof}: ${fault}`)),
    ...unsignedLines(checked),
    ...checked.flatMap(correctedLines),
    only === undefined
      ? `${plural(checked.length, 'proof')} checked, ${plural(faulty.length, 'does not hold', 'do not hold')}`
      : `${only.id} revision ${only.revision}: the hash, the receipts and the chain hold${reservation(only)}`,
  ];
}

/** The revisions whose receipts say a wrong time. */
function correctedLines({ proof, corrected }: CheckedProof): string[] {
  return corrected.map(
    ({ revision, filed_at, true_time }) =>
      `${proof}: revision ${revision} says ${filed_at}, by a clock that ran ahead: a signed correction says that it was filed at ${true_time} at the latest`,
  );
}

/** The unsigned members. Proofs with the same unsigned members share a line. */
function unsignedLines(checked: CheckedProof[]): string[] {
  const proofs = [...Map.groupBy(checked, ({ unsigned }) => unsignedWords(unsigned))];
  return proofs
    .filter(([words]) => words !== '')
    .map(([words, of]) => `${of.length === 1 ? of[0]?.proof : plural(of.length, 'proof')}: ${words}`);
}

function reservation({ keys_unread }: CheckedProof): string {
  return keys_unread === null
    ? ''
    : ` by the keys that come with the proof; when those keys were in force was not checked, for ${keys_unread}`;
}

/** Which keys were used, when the caller named none. */
function keysLine(where: string, [first]: (CheckedProof | CheckedRecords)[]): string {
  if (first === undefined) return OWN_KEYS;
  if ('kind' in first) return isAddress(where) ? SITE_KEYS : OWN_KEYS;
  return first.keys_from === null ? OWN_KEYS : `The keys and their times are those of ${first.keys_from}; ${COMPARE}`;
}

/** Where the receipts are in the log, and which witnesses saw it. */
function loggedLines(one: CheckedProof | CheckedRecords): string[] {
  const logged = [one.logged ?? []].flat();
  const [first] = logged;
  const last = logged.at(-1);
  if (first === undefined || last === undefined) return [];
  const what = 'kind' in one ? plural(logged.length, 'receipt') : `${one.id} revision ${one.revision}`;
  const leaves = logged.length === 1 ? `leaf ${first.index}` : `leaves ${first.index} to ${last.index}`;
  const seen = last.cosigned_by.map(({ name, at }) => `${name} at ${at}`).join(', ');
  const witnesses = seen === '' ? 'the policy asks for no witness' : `cosigned by ${seen}`;
  return [`${what}: ${leaves} of ${first.origin}, ${witnesses}`];
}

function recordLines(one: CheckedRecords): string[] {
  return [
    ...one.faults.map((fault) => `${one.document}: ${fault}`),
    ...one.corrected.map(
      ({ seq, observed_at, true_time }) =>
        `${one.document}: seq ${seq} says ${observed_at}, by a clock that ran ahead: a signed correction says ${true_time} at the latest`,
    ),
    ...(one.unsigned.length > 0 ? [`${one.document}: ${unsignedWords(one.unsigned)}`] : []),
    saidOf(one),
  ];
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { clockIn, correctionsIn, trueIso } from '../../proof/clock-note.ts';
import { verifyNoble, verifyNode } from '../../proof/ed25519.ts';
import {
  correctedFacts,
  type FactDocument,
  factFaults,
  isFactDocument,
  unsignedInFact,
} from '../../proof/fact-document.ts';
import { DuplicateMember, parseIJson } from '../../proof/i-json.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import { checkLogged, type LoggedReceipt } from '../../proof/log/logged.ts';
import type { Policy } from '../../proof/log/policy.ts';
import { unsignedWords } from '../../proof/members.ts';
import { membersIn } from '../../proof/narrow.ts';
import { isProof, type Proof, proofFaults } from '../../proof/proof.ts';
import { unsignedIn } from '../../proof/proof-form.ts';
import { observedIn } from '../../proof/records/cited-observation.ts';
import { reviewIn } from '../../proof/review-note.ts';
import { Fault, only } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { type CheckedDump, checkDump, dumpLines } from './verify-dump.ts';
import { type CheckedRecords, checkRecords, recordsDocument, saidOf } from './verify-records.ts';
import { fetched, isAddress, keysInFile, parsed, readText, siteKeys, type Trust } from './verify-sources.ts';

/** A story's proof, and its faults. */
export interface CheckedProof {
  /** The file or address of the proof. */
  proof: string;
  id: string | null;
  revision: number | null;
  faults: string[];
  /** The unsigned members, which were therefore not checked. */
  unsigned: string[];
  /** The site's key list against which the proof was checked; null for other keys. */
  keys_from: string | null;
  /** Why that list could not be read, so that the times of the keys are unknown; else null. */
  keys_unread: string | null;
  /** Where the receipt is in the log; null without a policy, and when the receipt has a fault. */
  logged: LoggedReceipt | null;
  /** Who approved which revision, by signed reviews in the proof. */
  reviews: { revision: number; reviewed_by: string; role: string; reviewed_at: string }[];
  /** The signed observations of hostnames that it cites, by the number of the entry. */
  observations: {
    n: number;
    domain: string;
    seq: number;
    observed_at: string;
    key: string;
    listed_by: string;
    kid: string;
  }[];
  /** Revisions whose receipts say a wrong time, by a signed correction of the clock. */
  corrected: { revision: number; filed_at: string; true_time: string }[];
}

/** A fact's document, and its faults. */
export interface CheckedFact extends Pick<CheckedProof, 'faults' | 'unsigned' | 'keys_from' | 'keys_unread'> {
  /** The file or address of the document. */
  fact: string;
  claim_key: string;
  /** The newest version. */
  version: number;
  status: string;
  /** Where the newest version's note is in the log; null without a policy, and when the note has a fault. */
  logged: LoggedReceipt | null;
  /** Versions whose notes say a wrong time, by a signed correction of the clock. */
  corrected: { version: number; signed_at: string; true_time: string }[];
}

type Checked = CheckedProof | CheckedFact | CheckedRecords | CheckedDump;

/**
 * Verifies proofs or a document of the records: a file, folder, address or standard input (`-`); by trusted keys, else
 * the site's, else its own. `files` are those of a dump whose proof it is. Throws `invalid_request` for other documents
 * with files.
 */
export async function verifyAt(
  where: string,
  { keys, policy }: Trust = {},
  files: readonly string[] = [],
): Promise<Checked[]> {
  if (files.length === 0 && !isAddress(where) && existsSync(where) && statSync(where).isDirectory())
    return verifyTree(where, keys, policy);
  const { source, text } = await textAt(where);
  const records = recordsDocument(text);
  if (records?.kind === 'dump') return [await checkDump(source, records, { keys, policy }, files)];
  if (files.length > 0) {
    throw new Fault('invalid_request', `${source} is not the proof of a dump; give its proof.json before its files`);
  }
  if (records !== null) return [await checkRecords(source, records, keys, policy)];
  const fact = factIn(text);
  if (fact !== null) return [await checkFactFrom(source, fact, { keys, policy })];
  return [await inLog(await checkProofFrom(source, text, keys), text, policy)];
}

/** The document of a fact in a text; null for any other. */
function factIn(text: string): FactDocument | null {
  try {
    const document = parseIJson(text);
    return isFactDocument(document) ? document : null;
  } catch {
    // Reported as a proof that cannot be parsed.
    return null;
  }
}

async function checkFactFrom(source: string, document: FactDocument, { keys, policy }: Trust): Promise<CheckedFact> {
  const site = keys === undefined && isAddress(source) ? await siteKeys(source) : null;
  const listed = site !== null && 'keys' in site ? site : null;
  const { claim_key, version, status } = document.fact;
  const faults = factFaults(document, verifyNoble, keys ?? listed?.keys);
  const corrected = faults.length > 0 ? [] : correctedFacts(document);
  const found = policy === undefined ? null : await checkLogged(document.log, document.fact.receipt, policy);
  const isKnown = faults.some((fault) => fault.startsWith('log: '));
  return {
    ...{ fact: source, claim_key, version, status, corrected, unsigned: unsignedInFact(document) },
    faults: [...faults, ...(isKnown ? [] : (found?.faults ?? []))],
    logged: found?.logged ?? null,
    keys_from: listed?.from ?? null,
    keys_unread: site !== null && 'why' in site ? site.why : null,
  };
}

/** Requires that the log of a policy has the proof's receipt. */
async function inLog(checked: CheckedProof, text: string, policy: Policy | undefined): Promise<CheckedProof> {
  const document = policy === undefined || checked.id === null ? null : parseIJson(text);
  if (policy === undefined || !isProof(document)) return checked;
  const { logged, faults } = await checkLogged(document.log, document.receipt, policy);
  const isKnown = checked.faults.some((fault) => fault.startsWith('log: '));
  return { ...checked, logged, faults: [...checked.faults, ...(isKnown ? [] : faults)] };
}

/** Verifies every proof in the folder of a pressed paper. Throws `not_found` when there are none. */
async function verifyTree(folder: string, trusted: VerifyingKey[] | undefined, policy: Policy | undefined) {
  const stories = join(folder, 'stories');
  const files = (existsSync(stories) ? readdirSync(stories) : [])
    .map((name) => join(stories, name, 'proof.json'))
    .filter((file) => existsSync(file));
  if (files.length === 0) {
    throw new Fault('not_found', `${folder} holds no stories/*/proof.json; give the folder of a pressed paper`);
  }
  const listed = join(folder, '.well-known/newsdesk-keys.json');
  const keys = trusted ?? (existsSync(listed) ? await keysInFile(listed) : undefined);
  const checked: CheckedProof[] = [];
  for (const file of files) {
    const found = await readText(file, 'a proof record')
      .then((text) => inLog(checkText(file, text, keys, verifyNode), text, policy))
      .catch(only(Fault));
    checked.push(found instanceof Fault ? unreadable(file, found.message) : found);
  }
  return checked;
}

/**
 * The text in a file, at an address or on standard input, and its source. The address of a story's page stands for its
 * proof, that of a fact's page for its document.
 */
async function textAt(where: string): Promise<{ source: string; text: string }> {
  if (!isAddress(where)) {
    const source = where === '-' ? 'standard input' : where;
    return { source, text: await readText(where, 'a proof file, a folder or an address') };
  }
  const isFact = /\/facts\/[a-z0-9-]+\/$/.test(where);
  const source = isFact ? `${where.slice(0, -1)}.json` : where.endsWith('/') ? `${where}proof.json` : where;
  const give = "a story's address or its proof.json, that of a fact, or a document of the domain records";
  const text = await fetched(source, give);
  return { source, text };
}

async function checkProofFrom(source: string, text: string, trusted: VerifyingKey[] | undefined) {
  const site = trusted === undefined && isAddress(source) ? await siteKeys(source) : null;
  if (site === null) return checkText(source, text, trusted);
  if ('why' in site) return { ...checkText(source, text, undefined), keys_unread: site.why };
  return { ...checkText(source, text, site.keys), keys_from: site.from };
}

function checkText(source: string, text: string, keys: VerifyingKey[] | undefined, verify = verifyNoble): CheckedProof {
  try {
    return check(source, parsed(source, text, 'a proof record'), keys, verify);
  } catch (error) {
    if (!(error instanceof DuplicateMember)) throw error;
    return unreadable(source, `the document ${error.message}`);
  }
}

function check(proof: string, document: unknown, keys: VerifyingKey[] | undefined, verify: typeof verifyNode) {
  const { id, revision } = membersIn(document);
  const faults = proofFaults(document, verify, keys);
  const unsigned = isProof(document) ? unsignedIn(document) : [];
  const corrected = isProof(document) && faults.length === 0 ? correctedIn(document) : [];
  const reviews = isProof(document) && faults.length === 0 ? reviewsIn(document) : [];
  const { evidence = [] } = isProof(document) && faults.length === 0 ? document : {};
  const observations = evidence.flatMap((one) => {
    const seen = observedIn(one);
    return seen === null ? [] : [{ n: one.n, ...seen }];
  });
  const said = {
    id: typeof id === 'string' ? id : null,
    revision: Number.isSafeInteger(revision) ? (revision as number) : null,
  };
  const checked = { proof, ...said, faults, unsigned, corrected, reviews, observations };
  return { ...checked, keys_from: null, keys_unread: null, logged: null };
}

/** The revisions of a valid proof to which its corrections of the clock apply. */
function correctedIn({ generations, clock = [] }: Proof): CheckedProof['corrected'] {
  const corrections = correctionsIn(clock.flatMap((note) => clockIn(note) ?? []));
  return generations.flatMap(({ revision, seq, filed_at }) => {
    const true_time = trueIso(filed_at, seq, corrections);
    return true_time === filed_at ? [] : [{ revision, filed_at, true_time }];
  });
}

function reviewsIn({ reviews = [] }: Proof): CheckedProof['reviews'] {
  return reviews.flatMap(({ note }) => {
    const review = reviewIn(note);
    if (review === null) return [];
    const { revision, reviewed_by, role, reviewed_at } = review;
    return [{ revision, reviewed_by, role, reviewed_at }];
  });
}

function unreadable(proof: string, fault: string): CheckedProof {
  const nothing = { id: null, revision: null, unsigned: [], keys_from: null, keys_unread: null, logged: null };
  return { proof, faults: [fault], corrected: [], reviews: [], observations: [], ...nothing };
}

const COMPARE = 'to know whose they are, compare them with --keys or --vkey.';
const OWN_KEYS = `The keys are the ones that come with the proof; ${COMPARE} Only --keys knows when each key was in force.`;
const SITE_KEYS = `The keys are the ones that the same site lists; ${COMPARE}`;
const PROVES = 'A receipt proves who filed the piece and that it has not changed, never that a claim is true.';
const RECORD_PROVES =
  'A receipt proves what the service saw and when, and that it has not changed, never that a name server told the truth.';

const DUMP_PROVES =
  'The note proves which files the service published and that they have not changed, never that they are complete: names may be left out.';

const FACT_PROVES =
  'The notes prove what the desk recorded and when, and that it has not changed, never that the fact is true.';

const LOG_UNCHECKED =
  'The log was not checked: with --policy, a proof must show that its receipt is in a log whose history witnesses have seen.';

/** Describes what was verified at an address, in lines for people, who may have named keys and a policy. */
export function verifiedLines(where: string, checked: Checked[], { keys, policy }: Trust) {
  const records = checked.filter((one) => 'kind' in one);
  const dumps = checked.filter((one) => 'dump' in one);
  const facts = checked.filter((one) => 'fact' in one);
  const proofs = checked.filter((one) => 'proof' in one);
  return [
    ...(records.length > 0
      ? records.flatMap(recordLines)
      : dumps.length > 0
        ? dumps.flatMap(dumpLines)
        : facts.length > 0
          ? facts.flatMap(factLines)
          : proofLines(proofs)),
    ...(keys === undefined ? [keysLine(where, checked)] : []),
    records.length > 0 ? RECORD_PROVES : dumps.length > 0 ? DUMP_PROVES : facts.length > 0 ? FACT_PROVES : PROVES,
    ...(policy === undefined ? [LOG_UNCHECKED] : checked.flatMap(loggedLines)),
  ];
}

function factLines({
  fact,
  claim_key,
  version,
  status,
  faults,
  corrected,
  unsigned,
  keys_unread,
}: CheckedFact): string[] {
  const unread = keys_unread === null ? '' : `; when its keys were in force was not checked, for ${keys_unread}`;
  return [
    ...faults.map((fault) => `${fact}: ${fault}`),
    ...(unsigned.length > 0 ? [`${fact}: ${unsignedWords(unsigned)}`] : []),
    ...corrected.map(
      (one) => `${fact}: version ${one.version} says ${one.signed_at}, ${aheadWords('signed', one.true_time)}`,
    ),
    faults.length > 0
      ? `${claim_key} version ${version} does not hold`
      : `${claim_key} version ${version}, ${status}: the hashes, the notes and the chain hold${unread}`,
  ];
}

function proofLines(checked: CheckedProof[]): string[] {
  const faulty = checked.filter(({ faults }) => faults.length > 0);
  const [only] = checked.length === 1 && faulty.length === 0 ? checked : [];
  return [
    ...faulty.flatMap(({ proof, faults }) => faults.map((fault) => `${proof}: ${fault}`)),
    ...unsignedLines(checked),
    ...checked.flatMap(correctedLines),
    ...(only?.reviews ?? []).map(
      ({ revision, reviewed_by, role, reviewed_at }) =>
        `revision ${revision} was approved by ${reviewed_by} (${role}) at ${reviewed_at}, says a signed review`,
    ),
    ...(only?.observations ?? []).map(
      ({ n, domain, seq, observed_at, key, listed_by }) =>
        `source ${n} is the signed observation ${seq} of ${domain} at ${observed_at}, which holds by the key ${key}${key === `${listed_by}/door` ? '' : `, listed by ${listed_by},`} that the paper’s evidence names`,
    ),
    only === undefined
      ? `${plural(checked.length, 'proof')} checked, ${plural(faulty.length, 'does not hold', 'do not hold')}`
      : `${only.id} revision ${only.revision}: the hash, the receipts and the chain hold${reservation(only)}`,
  ];
}

/** The revisions whose receipts say a wrong time. */
function correctedLines({ proof, corrected }: CheckedProof): string[] {
  return corrected.map(
    ({ revision, filed_at, true_time }) =>
      `${proof}: revision ${revision} says ${filed_at}, ${aheadWords('filed', true_time)}`,
  );
}

function aheadWords(what: string, true_time: string): string {
  return `by a clock that ran ahead: a signed correction says that it was ${what} at ${true_time} at the latest`;
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
function keysLine(where: string, [first]: Checked[]): string {
  if (first === undefined) return OWN_KEYS;
  if ('kind' in first || 'dump' in first) return isAddress(where) ? SITE_KEYS : OWN_KEYS;
  return first.keys_from === null ? OWN_KEYS : `The keys and their times are those of ${first.keys_from}; ${COMPARE}`;
}

/** Where the receipts are in the log, and which witnesses saw it. */
function loggedLines(one: Checked): string[] {
  const logged = [one.logged ?? []].flat();
  const [first] = logged;
  const last = logged.at(-1);
  if (first === undefined || last === undefined) return [];
  const what =
    'kind' in one
      ? plural(logged.length, 'receipt')
      : 'dump' in one
        ? `the note of ${one.day}`
        : 'fact' in one
          ? `${one.claim_key} version ${one.version}`
          : `${one.id} revision ${one.revision}`;
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

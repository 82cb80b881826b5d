import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { clockIn, correctionsIn, trueIso } from '../../proof/clock-note.ts';
import { verifyNoble, verifyNode } from '../../proof/ed25519.ts';
import { DuplicateMember, parseIJson } from '../../proof/i-json.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import { checkLogged, type LoggedReceipt } from '../../proof/log/logged.ts';
import type { Policy } from '../../proof/log/policy.ts';
import { isProof, type Proof, proofFaults } from '../../proof/proof.ts';
import { unsignedIn } from '../../proof/proof-form.ts';
import { Fault } from '../../shared/fault.ts';
import { type CheckedRecords, checkRecords, recordsDocument } from './verify-records.ts';
import { fetched, isAddress, keysInFile, parsed, readText, siteKeys } from './verify-sources.ts';

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
  /** Where the receipt is in the log; null when no policy was given, and when it does not hold. */
  logged: LoggedReceipt | null;
  /** Revisions whose receipts say a wrong time, by a signed correction of the clock. */
  corrected: { revision: number; filed_at: string; true_time: string }[];
}

/** What a caller of `verifyAt` trusts. */
export interface Trust {
  keys?: VerifyingKey[] | undefined;
  /** Demands that a log of this policy has every receipt, and its quorum. Without it the log is not checked. */
  policy?: Policy | undefined;
}

/**
 * Verifies proofs or a document of the records: a file, folder, address or standard input (`-`); by trusted keys, else
 * the site's, else its own.
 */
export async function verifyAt(
  where: string,
  { keys, policy }: Trust = {},
): Promise<(CheckedProof | CheckedRecords)[]> {
  if (!isAddress(where) && existsSync(where) && statSync(where).isDirectory()) return verifyTree(where, keys, policy);
  const { source, text } = await textAt(where);
  const records = recordsDocument(text);
  if (records !== null) return [await checkRecords(source, records, keys, policy)];
  return [await inLog(await checkProofFrom(source, text, keys), text, policy)];
}

/** Demands that the log of a policy has the proof's receipt. */
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
    try {
      const text = await readText(file, 'a proof record');
      checked.push(await inLog(checkText(file, text, keys, verifyNode), text, policy));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      checked.push(unreadable(file, error.message));
    }
  }
  return checked;
}

/** The text in a file, at an address or on standard input, and its source. A story's address means its proof. */
async function textAt(where: string): Promise<{ source: string; text: string }> {
  if (!isAddress(where)) {
    const source = where === '-' ? 'standard input' : where;
    return { source, text: await readText(where, 'a proof file, a folder or an address') };
  }
  const source = where.endsWith('/') ? `${where}proof.json` : where;
  const text = await fetched(source, "a story's address or its proof.json, or a document of the domain records");
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
  const { id = null, revision = null } = (document ?? {}) as Partial<Proof>;
  const faults = proofFaults(document, verify, keys);
  const unsigned = isProof(document) ? unsignedIn(document) : [];
  const corrected = isProof(document) && faults.length === 0 ? correctedIn(document) : [];
  return { proof, id, revision, faults, unsigned, keys_from: null, keys_unread: null, logged: null, corrected };
}

/** The revisions of a proof that holds to which its corrections of the clock apply. */
function correctedIn({ generations, clock = [] }: Proof): CheckedProof['corrected'] {
  const corrections = correctionsIn(clock.flatMap((note) => clockIn(note) ?? []));
  return generations.flatMap(({ revision, seq, filed_at }) => {
    const true_time = trueIso(filed_at, seq, corrections);
    return true_time === filed_at ? [] : [{ revision, filed_at, true_time }];
  });
}

function unreadable(proof: string, fault: string): CheckedProof {
  const nothing = { id: null, revision: null, unsigned: [], keys_from: null, keys_unread: null, logged: null };
  return { proof, faults: [fault], corrected: [], ...nothing };
}

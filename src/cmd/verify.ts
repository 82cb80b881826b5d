import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { CheckedRecords } from '../audit/verify-records.ts';
import { checkRecords, recordsDocument, saidOf } from '../audit/verify-records.ts';
import { isAddress, keysAt, keysInFile, parsed, siteKeys } from '../audit/verify-sources.ts';
import { fetched, readText } from '../audit/verify-texts.ts';
import { counted } from '../counted.ts';
import { Fault } from '../fault.ts';
import { verifyNoble, verifyNode } from '../ledger/ed25519.ts';
import { NamedTwice } from '../ledger/i-json.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import { isProof, keysFromVkeys, type Proof, proofFaults } from '../ledger/proof.ts';
import { unsignedIn } from '../ledger/proof-form.ts';
import { unsignedWords } from '../ledger/unsigned.ts';
import { givenPath } from './given-path.ts';
import { say } from './run.ts';

interface Checked {
  proof: string;
  id: string | null;
  revision: number | null;
  faults: string[];
  /** What of it nobody signed, so that it was not checked. */
  unsigned: string[];
  /** The list of the site that it came from, by whose keys it was checked; null where the keys were others. */
  keys_from: string | null;
  /** Why that list could not be read, so that nobody knows in which time each key signed; null where none was asked for. */
  keys_unread: string | null;
}

/** The exit code when there was nothing to check: no such file, no answer, no keys. */
const NOT_CHECKED = 2;

const OWN_KEYS =
  'The keys are the ones that come with the proof; to know whose they are, compare them with --keys or --vkey. Only --keys knows in which time each key signed.';
const COMPARE = 'to know whose they are, compare them with --keys or --vkey.';
const SITE_KEYS = `The keys are the ones that the same site lists; ${COMPARE}`;
const PROVES = 'A receipt proves who filed the piece and that it has not changed, never that a claim is true.';
const RECORD_PROVES =
  'A receipt proves what the service saw and when, and that it has not changed, never that a name server told the truth.';

export function command(): Command {
  return new Command('verify')
    .description('check proofs offline: hashes, each receipt’s signature, the chain, a record against its root')
    .argument(
      '<where>',
      'a proof, a story’s address or a pressed paper’s folder; an evidence bundle, record, preview, receipt or badge of the domain records, or its address; - for standard input',
    )
    .option('--keys <file or address>', 'trust only the keys of this newsdesk-keys.json or records-keys.json')
    .option('--vkey <key...>', 'trust only these verifier keys')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nExit code 0: all of it holds; 1: something does not; 2: nothing could be checked.')
    .action(async (where: string, options: { keys?: string; vkey?: string[]; json?: boolean }) => {
      // Until something was checked: neither that it holds nor that it does not.
      process.exitCode = NOT_CHECKED;
      const trusted = await trustedKeys(options);
      const checked = await checkAt(placeOf(where), trusted);
      const records = checked.filter((one) => 'kind' in one);
      const proofs = checked.filter((one) => 'proof' in one);
      const lines = records.length > 0 ? recordLines(records) : proofLines(proofs);
      say(options.json, checked, [
        ...lines,
        ...(trusted !== undefined ? [] : [keysLine(where, checked)]),
        records.length > 0 ? RECORD_PROVES : PROVES,
      ]);
      process.exitCode = checked.some(({ faults }) => faults.length > 0) ? 1 : 0;
    });
}

/** An address or `-` as it is, and a file where it was meant. */
function placeOf(where: string): string {
  return isAddress(where) || where === '-' ? where : givenPath(where);
}

function proofLines(checked: Checked[]): string[] {
  const faulty = checked.filter(({ faults }) => faults.length > 0);
  const [only] = checked.length === 1 && faulty.length === 0 ? checked : [];
  return [
    ...faulty.flatMap(({ proof, faults }) => faults.map((fault) => `${proof}: ${fault}`)),
    ...unsignedLines(checked),
    only === undefined
      ? `${counted(checked.length, 'proof')} checked, ${counted(faulty.length, 'does not hold', 'do not hold')}`
      : `${only.id} revision ${only.revision}: the hash, the receipts and the chain hold${reservation(only)}`,
  ];
}

/** What was not signed, in one line for all proofs that have the same of it. */
function unsignedLines(checked: Checked[]): string[] {
  const proofs = new Map<string, string[]>();
  for (const { proof, unsigned } of checked) {
    const words = unsignedWords(unsigned);
    if (words !== '') proofs.set(words, [...(proofs.get(words) ?? []), proof]);
  }
  return [...proofs].map(([words, of]) => `${of.length === 1 ? of[0] : counted(of.length, 'proof')}: ${words}`);
}

/** What holds only if each key signed in its time, where nobody could say in which. */
function reservation({ keys_unread }: Checked): string {
  return keys_unread === null
    ? ''
    : ` by the keys that come with the proof; in which time those signed was not checked, for ${keys_unread}`;
}

/** By whose keys it was checked, where the caller named none. */
function keysLine(where: string, checked: (Checked | CheckedRecords)[]): string {
  const [first] = checked;
  if (first === undefined) return OWN_KEYS;
  if ('kind' in first) return isAddress(where) ? SITE_KEYS : OWN_KEYS;
  return first.keys_from === null ? OWN_KEYS : `The keys and their times are those of ${first.keys_from}; ${COMPARE}`;
}

function recordLines(checked: CheckedRecords[]): string[] {
  return checked.flatMap((one) => [
    ...one.faults.map((fault) => `${one.document}: ${fault}`),
    ...(one.unsigned.length > 0 ? [`${one.document}: ${unsignedWords(one.unsigned)}`] : []),
    saidOf(one),
  ]);
}

/** Checks whatever is at a place: a document of the domain records, or proofs of stories. */
async function checkAt(where: string, trusted?: VerifyingKey[]): Promise<(Checked | CheckedRecords)[]> {
  if (!isAddress(where) && existsSync(where) && statSync(where).isDirectory()) return verifyAt(where, trusted);
  const { place, text } = await textAt(where);
  const records = recordsDocument(text);
  return records === null ? [await checkProofAt(place, text, trusted)] : [await checkRecords(place, records, trusted)];
}

/** Checks a proof by keys that the caller trusts, else by those that its site lists, else by its own. */
async function checkProofAt(place: string, text: string, trusted: VerifyingKey[] | undefined): Promise<Checked> {
  const site = trusted === undefined && isAddress(place) ? await siteKeys(place) : null;
  if (site === null) return checkText(place, text, trusted);
  if ('why' in site) return { ...checkText(place, text, undefined), keys_unread: site.why };
  return { ...checkText(place, text, site.keys), keys_from: site.from };
}

/** Checks every proof at a place. */
export async function verifyAt(where: string, trusted?: VerifyingKey[]): Promise<Checked[]> {
  if (isAddress(where) || !existsSync(where) || !statSync(where).isDirectory()) {
    const { place, text } = await textAt(where);
    return [await checkProofAt(place, text, trusted)];
  }
  const stories = join(where, 'stories');
  const keys = trusted ?? folderKeys(where);
  const files = (existsSync(stories) ? readdirSync(stories) : [])
    .map((name) => join(stories, name, 'proof.json'))
    .filter((file) => existsSync(file));
  if (files.length === 0)
    throw new Fault('not_found', `${where} holds no stories/*/proof.json; give the folder of a pressed paper`);
  return files.map((file) => {
    try {
      return checkText(file, readText(file, 'a proof record'), keys, verifyNode);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return unread(file, error.message);
    }
  });
}

/** The text of a file, of an address or of standard input; a story's address stands for its proof. */
async function textAt(where: string): Promise<{ place: string; text: string }> {
  if (isAddress(where)) {
    const place = where.endsWith('/') ? `${where}proof.json` : where;
    return {
      place,
      text: await fetched(place, "a story's address or its proof.json, or a document of the domain records"),
    };
  }
  return {
    place: where === '-' ? 'standard input' : where,
    text: readText(where, 'a proof file, a folder or an address'),
  };
}

function checkText(place: string, text: string, trusted: VerifyingKey[] | undefined, verify = verifyNoble): Checked {
  try {
    return check(place, parsed(place, text, 'a proof record'), trusted, verify);
  } catch (error) {
    if (!(error instanceof NamedTwice)) throw error;
    return unread(place, `the document ${error.message}`);
  }
}

function unread(proof: string, fault: string): Checked {
  return { proof, id: null, revision: null, faults: [fault], unsigned: [], keys_from: null, keys_unread: null };
}

function check(proof: string, document: unknown, keys: VerifyingKey[] | undefined, verify: typeof verifyNode): Checked {
  const { id = null, revision = null } = (document ?? {}) as Partial<Proof>;
  const faults = proofFaults(document, verify, keys);
  const unsigned = isProof(document) ? unsignedIn(document) : [];
  return { proof, id, revision, faults, unsigned, keys_from: null, keys_unread: null };
}

function folderKeys(folder: string): VerifyingKey[] | undefined {
  const file = join(folder, '.well-known/newsdesk-keys.json');
  return existsSync(file) ? keysInFile(file) : undefined;
}

async function trustedKeys({ keys, vkey }: { keys?: string; vkey?: string[] }): Promise<VerifyingKey[] | undefined> {
  if (keys === undefined && vkey === undefined) return undefined;
  const named = keysFromVkeys(vkey ?? []);
  if (named.length < (vkey?.length ?? 0)) {
    throw new Fault(
      'invalid_request',
      'a --vkey is not in the form <name>+<hash>+<base64>; take it from newsdesk-keys.json',
    );
  }
  return [...(keys === undefined ? [] : await keysAt(placeOf(keys))), ...named];
}

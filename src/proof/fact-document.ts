import { factHash, factNoteHash } from './fact-hash.ts';
import { FACT_HEADER, FACT_STATUSES, type FactNote, type FactVersion, parseFact } from './fact-note.ts';
import { checkNote } from './generation.ts';
import { keyOfNote, signingPeriodFaults } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey, vkey } from './keyring.ts';
import { mismatches, type Shape, unknownMembers } from './members.ts';
import { parseNote, type Verify } from './note.ts';
import { keysFromVkeys } from './proof.ts';

/** The document of a fact (protocol 4.8), as the API and the paper's pages give it, and how it is checked. */

/** A version with its note, as documents list it. */
export interface ListedFact extends FactVersion {
  fact_hash: string;
  seq: number;
  signed_at: string;
  kid: string;
  /** The signed note. */
  receipt: string;
  /** The verifier key of its signer. */
  vkey: string;
}

/** A version as documents list it. Throws when no known key signed it. */
export function listedFact(fact: FactVersion, receipt: string, keys: VerifyingKey[]): ListedFact {
  const note = parseNote(receipt);
  const said = note === null ? null : parseFact(note.text);
  const key = said === null || note === null ? null : keyOfNote(keys, said.kid, note);
  if (said === null || key === null)
    throw new Error(`no known key signed version ${fact.version} of ${fact.claim_key}`);
  const { claim_key, version, statement, source, instrument, quote, status, note: why } = fact;
  const { fact_hash, seq, signed_at, kid } = said;
  const content = { claim_key, version, statement, source, instrument, quote, status, note: why };
  return { ...content, fact_hash, seq, signed_at, kid, receipt, vkey: vkey(key.name, key.publicKey) };
}

const VERSION: Shape = {
  claim_key: 'a text',
  version: 'a whole number',
  statement: 'a text',
  source: 'a text',
  instrument: 'a text',
  quote: 'a text or null',
  status: 'a text',
  note: 'a text or null',
  fact_hash: 'a text',
  seq: 'a whole number',
  signed_at: 'a text',
  kid: 'a text',
  receipt: 'a text',
  vkey: 'a text',
};

/** The members of a fact's document that a verifier compares with what was signed. */
const DOCUMENT: Shape = { fact: VERSION, versions: [VERSION] };

/** A fact's document: its newest version, and all of them, oldest first. */
export interface FactDocument {
  fact: ListedFact;
  versions: ListedFact[];
}

/** Whether a document is one of a fact, sound or not. */
export function isFactDocument(document: unknown): document is FactDocument {
  return mismatches(document, DOCUMENT).length === 0;
}

/** The paths of members that no signature covers, such as `cited_by`. */
export function unsignedInFact(document: object): string[] {
  return unknownMembers(document, DOCUMENT);
}

/** How the versions of facts are checked. */
interface Checks {
  keys: readonly VerifyingKey[];
  verify: Verify;
}

/**
 * The faults of one version: its form, signature, the time of its key and its hash; empty when all hold. Whether it
 * follows the version before is for the caller to say.
 */
export function checkFact(
  fact: FactVersion,
  receipt: string,
  { keys, verify }: Checks,
): { said: FactNote | null; faults: string[] } {
  const { said, key, fault } = checkNote(receipt, { parse: parseFact, header: FACT_HEADER }, keys, verify);
  if (said === null || key === null || fault !== null) return { said, faults: fault === null ? [] : [fault] };
  const faults = signingPeriodFaults('signed', said.signed_at, key);
  if (said.claim_key !== fact.claim_key || said.version !== fact.version)
    faults.push(`its note is of ${said.claim_key} version ${said.version}`);
  if (hashOf(fact) !== said.fact_hash) faults.push('fact_hash is not the hash of what it says: it was altered');
  return { said, faults };
}

/** Null where RFC 8785 has no form, such as for a lone surrogate. */
function hashOf(fact: FactVersion): string | null {
  try {
    return factHash(fact);
  } catch {
    return null;
  }
}

/** The faults of a fact's document (protocol 4.8), by the keys that the caller trusts, else by those that it names. */
export function factFaults(document: unknown, verify: Verify, trusted?: VerifyingKey[]): string[] {
  const misshapen = mismatches(document, DOCUMENT);
  if (misshapen.length > 0) return misshapen.map((fault) => `this is not the document of a fact: ${fault}`);
  const { fact, versions } = document as FactDocument;
  const keys = trusted ?? keysFromVkeys(versions.map((one) => one.vkey));
  const faults: string[] = [];
  let before: FactNote | null = null;
  let prev: string | null = null;
  for (const [index, one] of versions.entries()) {
    const { said, faults: found } = checkFact(one, one.receipt, { keys, verify });
    if (said !== null) {
      found.push(...placeFaults(one, said, before));
      if (said.version !== index + 1) found.push(`it is version ${said.version}, and stands at place ${index + 1}`);
      if (said.prev !== prev) found.push('prev is not the hash of the version before it');
      before = said;
      prev = factNoteHash(one.receipt);
    }
    faults.push(...found.map((fault) => `versions[${index}]: ${fault}`));
  }
  const newest = versions.at(-1);
  if (
    newest === undefined ||
    Object.keys(VERSION).some((name) => fact[name as keyof ListedFact] !== newest[name as keyof ListedFact])
  )
    faults.push('fact is not the newest of its versions');
  return faults;
}

function placeFaults(listed: ListedFact, said: FactNote, before: FactNote | null): string[] {
  const faults: string[] = [];
  for (const name of ['fact_hash', 'seq', 'signed_at', 'kid'] as const)
    if (listed[name] !== said[name]) faults.push(`${name} is not that of its note`);
  const key = parseVkey(listed.vkey);
  if (key === null || thumbprint(key.publicKey) !== said.kid) faults.push('its vkey is not that of its kid');
  if (!FACT_STATUSES.includes(listed.status)) faults.push(`status is ${JSON.stringify(listed.status)}`);
  if (before === null) return faults;
  if (said.paper !== before.paper || said.claim_key !== before.claim_key) faults.push('it is of another fact');
  if (said.seq <= before.seq) faults.push(`seq ${said.seq} does not come after ${before.seq}`);
  return faults;
}

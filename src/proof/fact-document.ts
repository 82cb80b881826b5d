import { clockIn, clockNotesFor, correctionsIn, type TimeCorrection, trueIso } from './clock-note.ts';
import { factHash, factNoteHash } from './fact-hash.ts';
import { FACT_HEADER, FACT_STATUSES, type FactNote, type FactVersion, factIn, parseFact } from './fact-note.ts';
import { checkClockNotes, checkNote } from './generation.ts';
import { keyOfNote, signingPeriodFaults } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey, vkey } from './keyring.ts';
import { LOG_PROOF, type LogProof } from './log/log-proof.ts';
import { logProofFaults } from './log/logged-entries.ts';
import { mismatches, type Shape, unknownMembers } from './members.ts';
import { parseNote, type Verify } from './note.ts';
import { keysFromVkeys } from './proof.ts';

/** The document of a fact (protocol 4.8), as the API and the paper's pages provide it, and its verification. */

/** A version with its note, as listed in documents. */
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

/** A version as listed in documents. Throws when no known key signed it. */
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

/** The members of a fact's document that verifiers compare with what was signed. */
const DOCUMENT: Shape = {
  fact: VERSION,
  versions: [VERSION],
  'log??': LOG_PROOF,
  'clock?': [{ note: 'a text', vkey: 'a text' }],
};

/** A parsed fact document. Documents from before log proofs existed have no `log`. */
export interface FactDocument {
  /** The newest version. */
  fact: ListedFact;
  /** All versions, oldest first. */
  versions: ListedFact[];
  /**
   * The proof that the newest version's note is in the log, from which `prev` leads to the others; null until it is
   * there.
   */
  log?: LogProof | null;
  /** The corrections of the clock that cover any version; absent without any. */
  clock?: ListedNote[];
}

/** A note as listed in documents: with the verifier key of its signer. */
interface ListedNote {
  note: string;
  vkey: string;
}

interface FactSources {
  /** The versions with their notes, oldest first. */
  versions: readonly (FactVersion & { receipt: string })[];
  keys: VerifyingKey[];
  /** The proof that the newest version's note is in the log. */
  log: LogProof | null;
  /** The corrections of the clock for the paper: signed notes. */
  clock: readonly string[];
}

/** Builds a fact's document. Throws without versions, and when no known key signed one of the notes. */
export function factDocument({ versions, keys, log, clock }: FactSources): FactDocument & { log: LogProof | null } {
  const listed = versions.map((fact) => listedFact(fact, fact.receipt, keys));
  const fact = listed.at(-1);
  if (fact === undefined) throw new Error('a fact has a version');
  const seqs = listed.map(({ seq }) => seq);
  const corrections = clockNotesFor(clock, seqs, 'facts').map((note) => ({ note, vkey: signerOf(note, keys) }));
  return { fact, versions: listed, log, ...(corrections.length === 0 ? {} : { clock: corrections }) };
}

function signerOf(note: string, keys: VerifyingKey[]): string {
  const key = keyOfNote(keys, clockIn(note)?.kid, parseNote(note) ?? { signatures: [] });
  if (key === null) throw new Error('no known key signed a correction of the clock');
  return vkey(key.name, key.publicKey);
}

/** The versions with a wrong time, according to the corrections in the document. */
export function correctedFacts({ versions, clock = [] }: FactDocument) {
  const corrections = correctionsIn(
    clock.flatMap(({ note }) => clockIn(note) ?? []),
    'facts',
  );
  return versions.flatMap(({ version, seq, signed_at }) => {
    const true_time = trueIso(signed_at, seq, corrections);
    return true_time === signed_at ? [] : [{ version, signed_at, true_time }];
  });
}

/** Whether a document has the form of a fact document, valid or not. */
export function isFactDocument(document: unknown): document is FactDocument {
  return mismatches(document, DOCUMENT).length === 0;
}

/** The paths of members that no signature covers, such as `cited_by`. */
export function unsignedInFact(document: object): string[] {
  return unknownMembers(document, DOCUMENT);
}

/** What is needed to check fact versions. */
interface Checks {
  keys: readonly VerifyingKey[];
  verify: Verify;
  /** The corrections of the clock for fact versions of the same paper. */
  corrections?: readonly TimeCorrection[];
}

/**
 * The faults of one version: its form, its signature, its time and the key's, and its hash; empty when all are valid.
 * The caller must check that it follows the previous version.
 */
export function checkFact(
  fact: FactVersion,
  receipt: string,
  { keys, verify, corrections = [] }: Checks,
): { said: FactNote | null; faults: string[] } {
  const { said, key, fault } = checkNote(receipt, { parse: parseFact, header: FACT_HEADER }, keys, verify);
  if (said === null || key === null || fault !== null) return { said, faults: fault === null ? [] : [fault] };
  const faults = signingPeriodFaults('signed', trueIso(said.signed_at, said.seq, corrections), key);
  if (said.claim_key !== fact.claim_key || said.version !== fact.version)
    faults.push(`its note is of ${said.claim_key} version ${said.version}`);
  if (hashOf(fact) !== said.fact_hash) faults.push('fact_hash is not the hash of what it says: it was altered');
  return { said, faults };
}

/** Null for values without an RFC 8785 form, such as those with a lone surrogate. */
function hashOf(fact: FactVersion): string | null {
  try {
    return factHash(fact);
  } catch {
    return null;
  }
}

/**
 * The faults of a fact's document (protocol 4.8), verified with the trusted keys, or else with the keys that it
 * contains.
 */
export function factFaults(document: unknown, verify: Verify, trusted?: VerifyingKey[]): string[] {
  const misshapen = mismatches(document, DOCUMENT);
  if (misshapen.length > 0) return misshapen.map((fault) => `this is not the document of a fact: ${fault}`);
  const { fact, versions, log, clock = [] } = document as FactDocument;
  const keys = trusted ?? keysFromVkeys([...versions, ...clock].map((one) => one.vkey));
  const paper = factIn(fact.receipt)?.paper ?? null;
  const notes = clock.map(({ note }) => note);
  const checked = checkClockNotes(notes, { service: 'desk', paper }, keys, verify);
  const corrections = correctionsIn(checked.statements, 'facts');
  const faults = [...checked.faults, ...listedClockFaults(clock)];
  let before: FactNote | null = null;
  let prev: string | null = null;
  for (const [index, one] of versions.entries()) {
    const { said, faults: found } = checkFact(one, one.receipt, { keys, verify, corrections });
    if (said !== null) {
      found.push(...placeFaults(one, said, before));
      if (said.version !== index + 1)
        found.push(`it is version ${said.version}, but is listed at position ${index + 1}`);
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
  return [...faults, ...logProofFaults(log, fact.receipt)];
}

/** Listed corrections must be of fact versions: others apply to none of them. The listed key must be the signer's. */
function listedClockFaults(clock: readonly ListedNote[]): string[] {
  return clock.flatMap(({ note, vkey }, at) => {
    const said = clockIn(note);
    if (said === null) return [];
    if (said.of !== 'facts') return [`clock[${at}]: it is of receipts, not of versions of facts`];
    const key = parseVkey(vkey);
    const isOwn = key !== null && thumbprint(key.publicKey) === said.kid;
    return isOwn ? [] : [`clock[${at}]: its vkey is not that of its kid`];
  });
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

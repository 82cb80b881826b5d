import { fill } from '../../../phrases/fill.ts';
import type { CheckedReceipt } from '../../../proof/chain.ts';
import { correctionsIn, type TimeCorrection } from '../../../proof/clock-note.ts';
import { verifyNode } from '../../../proof/ed25519.ts';
import { evidenceFaults } from '../../../proof/evidence-check.ts';
import { evidenceIn } from '../../../proof/evidence-note.ts';
import { chainFaults, checkClockNotes, checkReceipt, FILED } from '../../../proof/generation.ts';
import { DuplicateMember } from '../../../proof/i-json.ts';
import { keyOfNote } from '../../../proof/key-text.ts';
import { keysOf, type VerifyingKey } from '../../../proof/keyring.ts';
import { unsignedWords } from '../../../proof/members.ts';
import { membersIn } from '../../../proof/narrow.ts';
import { parseNote } from '../../../proof/note.ts';
import { hashOrNull } from '../../../proof/proof.ts';
import { provenanceFaults, unsignedIn } from '../../../proof/proof-form.ts';
import { parseReceipt } from '../../../proof/receipt.ts';
import { reviewFaults, reviewIn } from '../../../proof/review-note.ts';
import { type ProofRecord, proofRecord } from './record.ts';
import { ENGLISH, type Words } from './words.ts';

/** One check and its result, in words for a reader. */
export interface Check {
  title: string;
  holds: boolean;
  /** The finding or, if the check failed, every claim that does not hold. */
  found: string[];
}

/** A proof with the results of its checks. */
export interface CheckedProof {
  checks: Check[];
  /** Null for a document that is not a proof. */
  proof: ProofRecord | null;
  /** The names of its unsigned members. */
  unsigned: string[];
}

/** What the page states about the piece. */
export type Shown = Pick<ProofRecord, 'id' | 'revision' | 'content_hash'>;

const check = (title: string, faults: string[], found: string): Check => ({
  title,
  holds: faults.length === 0,
  found: faults.length === 0 ? [found] : faults,
});

/**
 * Checks a proof against the paper's key document: the hash, the receipt, its signature, the chain. Computes every
 * value from the two documents; `unsigned` names the unsigned parts of the proof. Without a proof record or a key
 * document, returns a single check that says so.
 */
export function checkProof(
  documents: { proof: unknown; keys: unknown },
  shown: Shown,
  words: Words = ENGLISH,
): CheckedProof {
  const proof = proofRecord(documents.proof);
  const keys = Array.isArray(membersIn(documents.keys).keys) ? keysOf(documents.keys) : null;
  const unread = [
    ...(proof === null ? [unreadable('proof.json', documents.proof, 'a proof record that this page can read')] : []),
    ...(keys === null ? [unreadable('newsdesk-keys.json', documents.keys, 'a key document')] : []),
  ];
  if (proof === null || keys === null) {
    return { checks: [check('The files are a proof and its keys', unread, '')], proof: null, unsigned: [] };
  }
  const paper = parseReceipt(parseNote(proof.receipt)?.text ?? '')?.paper ?? null;
  const clock = checkClockNotes(proof.clock ?? [], { service: 'desk', paper }, keys, verifyNode);
  const corrections = correctionsIn(clock.statements);
  const newest = checkReceipt(proof.receipt, FILED, keys, verifyNode, corrections);
  const unsigned = unsignedIn(proof);
  const checks = [
    hashCheck(words, proof, unsigned),
    receiptCheck(words, proof, newest, shown),
    signatureCheck(words, newest, proof.receipt, keys),
    chainCheck(words, proof, [...clock.faults, ...chainFaults(proof.generations, keys, verifyNode, corrections)]),
    ...reviewCheck(words, proof, { paper: paper ?? undefined, keys, corrections }),
    ...evidenceCheck(words, proof, { paper: paper ?? undefined, keys, corrections }),
  ];
  return { checks, proof, unsigned };
}

function unreadable(name: string, document: unknown, what: string): string {
  return document instanceof DuplicateMember ? `${name} ${document.message}.` : `${name} is not ${what}.`;
}

function hashCheck(words: Words, proof: ProofRecord, unsigned: string[]): Check {
  const hash = hashOrNull(proof.basis);
  const faults =
    hash === proof.content_hash
      ? []
      : [`The text in the proof gives ${hash ?? 'no hash at all'}, but the proof states ${proof.content_hash}.`];
  const named = unsignedWords(unsigned);
  const beside = named === '' ? '' : ` Beside them the proof has what is n${named.slice(1)}.`;
  return check(words.hash, faults, `${fill(words.hash_found, { hash: `${hash}` })}${beside}`);
}

function receiptCheck(
  words: Words,
  { id, revision, content_hash, basis }: ProofRecord,
  { receipt, time }: CheckedReceipt,
  shown: Shown,
): Check {
  const title = words.receipt;
  if (receipt === null) return check(title, ['The receipt is not in the form of a receipt.'], '');
  const faults: string[] = [];
  const ids = [receipt.piece, id, basis.id];
  if (ids.some((named) => named !== shown.id)) {
    faults.push(`This page is piece ${shown.id}; the receipt and the proof name ${[...new Set(ids)].join(' and ')}.`);
  }
  const revisions = [receipt.revision, revision, basis.revision];
  if (revisions.some((named) => named !== shown.revision)) {
    const named = [...new Set(revisions)].join(' and ');
    faults.push(
      `This page shows revision ${shown.revision}; the receipt and the proof name ${named}. If the piece was revised just now, reload the page.`,
    );
  }
  faults.push(...provenanceFaults(basis, receipt));
  if (receipt.content_hash !== content_hash) {
    faults.push(`The receipt is for ${receipt.content_hash}, but the proof states ${content_hash}.`);
  }
  if (shown.content_hash !== content_hash) {
    faults.push(`This page states the hash ${shown.content_hash}, but the proof states ${content_hash}.`);
  }
  return check(
    title,
    faults,
    fill(words.receipt_found, {
      seq: receipt.seq,
      paper: receipt.paper,
      revision: receipt.revision,
      day: receipt.filed_at.slice(0, 10),
      time: receipt.filed_at.slice(11, 19),
    }) +
      (time === receipt.filed_at
        ? ''
        : ` ${fill(words.clock_wrong, { day: time.slice(0, 10), time: time.slice(11, 19) })}`),
  );
}

function signatureCheck(
  words: Words,
  { receipt, signature }: CheckedReceipt,
  text: string,
  keys: VerifyingKey[],
): Check {
  const key = keyOfNote(keys, receipt?.kid, parseNote(text) ?? { signatures: [] });
  const faults = {
    holds: [],
    fails: ['The signature does not fit the receipt: the receipt was changed after it was signed, or never signed.'],
    no_such_key: [`The receipt names the key ${receipt?.kid}, and the paper’s key document lists no such key.`],
  }[signature];
  return check(words.signature, faults, fill(words.signature_found, { name: `${key?.name}`, kid: `${key?.kid}` }));
}

function chainCheck(words: Words, proof: ProofRecord, found: string[]): Check {
  const faults = [...found];
  const last = proof.generations.at(-1);
  if (last?.receipt !== proof.receipt || last.content_hash !== proof.content_hash) {
    faults.push('the newest revision in the chain is not the one that the proof is of');
  }
  const count = proof.generations.length;
  return check(words.chain, faults.map(sentence), count === 1 ? words.chain_first : fill(words.chain_found, { count }));
}

/** No check for a proof without reviews: most papers have none, which is not a fault. */
function reviewCheck(
  words: Words,
  { id: piece, reviews = [], generations }: ProofRecord,
  of: { paper: string | undefined; keys: VerifyingKey[]; corrections: readonly TimeCorrection[] },
): Check[] {
  const newest = reviewIn(reviews.at(-1)?.note ?? '');
  if (reviews.length === 0) return [];
  const faults = reviewFaults(reviews, { ...of, piece, generations, verify: verifyNode });
  const { reviewed_by: name = '', role = '', revision = 0, reviewed_at = '' } = newest ?? {};
  const found = { name, role, revision, day: reviewed_at.slice(0, 10), time: reviewed_at.slice(11, 19) };
  return [check(words.review, faults.map(sentence), fill(words.review_found, found))];
}

/** No check for a proof without evidence: many papers do not read their sources. */
function evidenceCheck(
  words: Words,
  { id: piece, revision, basis, evidence = [], generations }: ProofRecord,
  of: { paper: string | undefined; keys: VerifyingKey[]; corrections: readonly TimeCorrection[] },
): Check[] {
  if (evidence.length === 0) return [];
  const faults = evidenceFaults(evidence, { ...of, piece, revision, basis, generations, verify: verifyNode });
  const read = evidence.flatMap(({ note }) => evidenceIn(note) ?? []);
  const quotes = read.filter(({ quote }) => quote !== null).length;
  const [first = '', last = first] = [read.map(({ read_at }) => read_at.slice(0, 10)).sort()].flatMap((days) => [
    ...days.slice(0, 1),
    ...days.slice(-1),
  ]);
  const found = fill(words.evidence_found, {
    count: read.length,
    total: basis.cited_facts.length,
    quotes,
    first,
    last,
  });
  const observed = evidence.filter(({ observation }) => observation !== undefined).length;
  const also = observed === 0 ? '' : ` ${fill(words.evidence_observed, { count: observed })}`;
  return [check(words.evidence, faults.map(sentence), `${found}${also}`)];
}

/** A fault as a sentence of its own. */
function sentence(fault: string): string {
  return `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`;
}

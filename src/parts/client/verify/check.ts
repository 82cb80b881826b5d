import type { CheckedReceipt } from '../../../ledger/chain.ts';
import { chainRules } from '../../../ledger/chain.ts';
import { DuplicateMember } from '../../../ledger/i-json.ts';
import { parseNote } from '../../../ledger/note.ts';
import { unsignedIn } from '../../../ledger/proof-form.ts';
import type { Receipt } from '../../../ledger/receipt.ts';
import { parseReceipt } from '../../../ledger/receipt.ts';
import { unsignedWords } from '../../../ledger/unsigned.ts';
import type { ListedKey } from './crypto.ts';
import { contentHash, keysIn, sha256, signedBy } from './crypto.ts';
import type { ProofRecord } from './record.ts';
import { proofRecord } from './record.ts';

/** One check and its outcome, in words for a reader. */
export interface Check {
  title: string;
  holds: boolean;
  /** The finding or, for a failed check, every claim that does not hold. */
  found: string[];
}

/** A proof with the outcome of its checks. */
export interface CheckedProof {
  checks: Check[];
  /** Null for a document that is not a proof. */
  proof: ProofRecord | null;
  /** The names of its parts that are not signed. */
  unsigned: string[];
}

/** What the page claims to show. */
export interface Shown {
  id: string;
  revision: number;
  content_hash: string;
}

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
export async function checkProof(documents: { proof: unknown; keys: unknown }, shown: Shown): Promise<CheckedProof> {
  const proof = proofRecord(documents.proof);
  const keys = await keysIn(documents.keys);
  const unread = [
    ...(proof === null ? [unreadable('proof.json', documents.proof, 'a proof record that this page can read')] : []),
    ...(keys === null ? [unreadable('newsdesk-keys.json', documents.keys, 'a key document')] : []),
  ];
  if (proof === null || keys === null) {
    return { checks: [check('The files are a proof and its keys', unread, '')], proof: null, unsigned: [] };
  }
  const seen = await Promise.all(
    proof.generations.map(async (generation) => ({ generation, seen: await readReceipt(generation.receipt, keys) })),
  );
  const newest = await readReceipt(proof.receipt, keys);
  const unsigned = unsignedIn(proof);
  const checks = [
    await hashCheck(proof, unsigned),
    receiptCheck(proof, newest.receipt, shown),
    signatureCheck(newest, keys),
    chainCheck(proof, seen),
  ];
  return { checks, proof, unsigned };
}

function unreadable(name: string, document: unknown, what: string): string {
  return document instanceof DuplicateMember ? `${name} ${document.message}.` : `${name} is not ${what}.`;
}

async function hashCheck(proof: ProofRecord, unsigned: string[]): Promise<Check> {
  const hash = await contentHash(proof.basis);
  const faults =
    hash === proof.content_hash
      ? []
      : [`The text in the proof gives ${hash ?? 'no hash at all'}, but the proof states ${proof.content_hash}.`];
  const words = unsignedWords(unsigned);
  const beside = words === '' ? '' : ` Beside them the proof has what is n${words.slice(1)}.`;
  return check(
    'The hash is that of the text',
    faults,
    `Your browser hashed the headline, summary, text, sources and byline in the proof anew, and got the hash that it states: ${hash}.${beside}`,
  );
}

function receiptCheck(
  { id, revision, content_hash, basis }: ProofRecord,
  receipt: Receipt | null,
  shown: Shown,
): Check {
  const title = 'The receipt is for this piece';
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
  if (receipt.content_hash !== content_hash) {
    faults.push(`The receipt is for ${receipt.content_hash}, but the proof states ${content_hash}.`);
  }
  if (shown.content_hash !== content_hash) {
    faults.push(`This page states the hash ${shown.content_hash}, but the proof states ${content_hash}.`);
  }
  return check(
    title,
    faults,
    `Receipt no. ${receipt.seq} of “${receipt.paper}” names this piece, revision ${receipt.revision}, and that hash. It was filed on ${receipt.filed_at.slice(0, 10)} at ${receipt.filed_at.slice(11, 19)} UTC.`,
  );
}

function signatureCheck({ receipt, signature }: CheckedReceipt, keys: ListedKey[]): Check {
  const key = keys.find(({ kid }) => kid === receipt?.kid);
  const faults = {
    holds: [],
    fails: ['The signature does not fit the receipt: the receipt was changed after it was signed, or never signed.'],
    no_such_key: [`The receipt names the key ${receipt?.kid}, and the paper’s key document lists no such key.`],
  }[signature];
  return check(
    'The paper’s door signed the receipt',
    faults,
    `The Ed25519 signature holds under the key of “${key?.name}”, which the paper’s key document lists as ${key?.kid}.`,
  );
}

function chainCheck(proof: ProofRecord, generations: Parameters<typeof chainRules>[0]): Check {
  const faults = chainRules(generations);
  const last = proof.generations.at(-1);
  if (last?.receipt !== proof.receipt || last.content_hash !== proof.content_hash) {
    faults.push('the newest revision in the chain is not the one that the proof is of');
  }
  const count = generations.length;
  return check(
    'The chain of revisions is whole',
    faults.map((fault) => `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`),
    count === 1
      ? 'This is the first revision, and its receipt names none before it.'
      : `All ${count} revisions are there. Each has a signed receipt, and each receipt names the hash of the one before it.`,
  );
}

/** Parses a receipt, hashes its signed text and verifies its signature. */
async function readReceipt(text: string, keys: ListedKey[]): Promise<CheckedReceipt> {
  const note = parseNote(text);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null };
  const key = keys.find(({ kid }) => kid === receipt.kid) ?? null;
  const signature = key === null ? 'no_such_key' : (await signedBy(note, key)) ? 'holds' : 'fails';
  return { receipt, hash: await sha256(note.text), signature, key };
}

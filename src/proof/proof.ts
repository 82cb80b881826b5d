import { basisOf, contentHash, type Hashed } from './basis.ts';
import { toBase64 } from './bytes.ts';
import type { Generation } from './chain.ts';
import { clockIn, clockNotesFor, correctionsIn } from './clock-note.ts';
import { evidenceFaults } from './evidence-check.ts';
import { evidenceIn } from './evidence-note.ts';
import { chainFaults, checkClockNotes } from './generation.ts';
import { keyOfNote } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey, vkey } from './keyring.ts';
import type { LogProof } from './log/log-proof.ts';
import { logProofFaults } from './log/logged-entries.ts';
import { parseNote, signedText, type Verify } from './note.ts';
import { formFaults, hashBasis, provenanceFaults } from './proof-form.ts';
import { parseReceipt } from './receipt.ts';
import type { CitedObservation } from './records/cited-observation.ts';
import { reviewFaults, reviewIn } from './review-note.ts';

/** A parsed proof record of one piece (protocol 4.5). Records from before the log existed have no `log`. */
export type Proof = Omit<ReturnType<typeof proofOf>, 'log'> & { log?: LogProof | null };

interface ProofSources {
  /** The generations of the piece, oldest first; the last one belongs to `piece`. */
  generations: Generation[];
  keys: VerifyingKey[];
  /** The address of the key document. */
  keysUrl: string;
  /** The proof that the last generation's receipt is in the log. */
  log: LogProof | null;
  /** The corrections of the clock for the paper: signed notes. */
  clock?: readonly string[];
  /** The reviews of the piece that readers may see, oldest first: signed notes. */
  reviews?: readonly string[];
  /** The newest evidence for each cited fact whose source was read, by the fact's number: signed notes. */
  evidence?: readonly { n: number; note: string; observation?: CitedObservation | undefined }[];
}

/** Builds a proof. Throws when no known key signed the piece's last generation. */
export function proofOf(
  piece: Hashed,
  { generations, keys, keysUrl, log, clock = [], reviews = [], evidence = [] }: ProofSources,
) {
  const signerOf = (note: string, kid: string | undefined) =>
    keyOfNote(keys, kid, parseNote(note) ?? { signatures: [] });
  const last = generations.at(-1);
  const signers = generations.map(({ kid, receipt }) => signerOf(receipt, kid));
  const key = signers.at(-1) ?? undefined;
  if (last === undefined || key === undefined) {
    throw new Error(`piece ${piece.id} has no generation signed by a known key`);
  }
  const seqs = generations.map(({ seq }) => seq);
  const corrections = clockNotesFor(clock, seqs);
  const correctors = corrections.map((note) => signerOf(note, clockIn(note)?.kid));
  const used = keys.filter((one) => signers.includes(one) || correctors.includes(one));
  const basis = basisOf(piece);
  return {
    id: piece.id,
    revision: piece.revision,
    content_hash: last.content_hash,
    basis,
    hash_basis: hashBasis(basis),
    receipt: last.receipt,
    receipt_verify: {
      alg: 'Ed25519' as const,
      signed: signedText(last.receipt),
      key_name: key.name,
      kid: key.kid,
      public_key: toBase64(key.publicKey),
      vkey: vkey(key.name, key.publicKey),
      keys_url: keysUrl,
      /** The keys of all signers, so that a chain across a key rotation can be verified offline. */
      vkeys: used.map(({ name, publicKey }) => vkey(name, publicKey)),
    },
    generations,
    log,
    ...(corrections.length === 0 ? {} : { clock: corrections }),
    ...(reviews.length === 0
      ? {}
      : { reviews: reviews.map((note) => listed(note, signerOf(note, reviewIn(note)?.kid))) }),
    ...(evidence.length === 0
      ? {}
      : {
          evidence: evidence.map(({ n, note, observation }) => ({
            n,
            ...listed(note, signerOf(note, evidenceIn(note)?.kid)),
            ...(observation === undefined ? {} : { observation }),
          })),
        }),
  };
}

function listed(note: string, key: VerifyingKey | null): { note: string; vkey: string } {
  if (key === null) throw new Error(`no known key signed the note ${JSON.stringify(note)}`);
  return { note, vkey: vkey(key.name, key.publicKey) };
}

/** Parses verifier keys as signing keys. Omits invalid ones. */
export function keysFromVkeys(vkeys: string[]): VerifyingKey[] {
  return vkeys
    .map(parseVkey)
    .filter((key) => key !== null)
    .map((key) => ({ ...key, kid: thumbprint(key.publicKey), nbf: 0, retired_at: null }));
}

/** Whether a document has the form of a proof. */
export function isProof(document: unknown): document is Proof {
  return formFaults(document).length === 0;
}

/**
 * Verifies a proof on its own, or against keys that the caller trusts (protocol 4.6). On its own, a proof shows that
 * the piece, the receipts and the chain belong together, not whose key it is: anyone can sign with a key of their own.
 * Returns every claim that does not hold; empty when all do. A document of the wrong shape is reported the same way,
 * never thrown.
 */
export function proofFaults(document: unknown, verify: Verify, trusted?: VerifyingKey[]): string[] {
  const misshapen = formFaults(document);
  if (misshapen.length > 0) return misshapen.map((fault) => `this is not a proof record: ${fault}`);
  const proof = document as Proof;
  const keys = trusted ?? keysFromVkeys([proof.receipt_verify.vkey, ...(proof.receipt_verify.vkeys ?? [])]);
  const faults: string[] = [];
  if (hashOrNull(proof.basis) !== proof.content_hash) {
    faults.push('content_hash is not the hash of basis: the piece was altered');
  }
  for (const name of ['id', 'revision'] as const) {
    if (proof.basis[name] !== proof[name]) {
      faults.push(`basis.${name} is ${proof.basis[name]}, but the proof is of ${proof[name]}`);
    }
  }
  const text = parseNote(proof.receipt)?.text ?? '';
  const filed = parseReceipt(text);
  const clockOf = { service: 'desk', paper: filed?.paper ?? null } as const;
  const clock = checkClockNotes(proof.clock ?? [], clockOf, keys, verify);
  const corrections = correctionsIn(clock.statements);
  faults.push(...clock.faults, ...chainFaults(proof.generations, keys, verify, corrections));
  const { id: piece, generations, reviews = [], evidence = [] } = proof;
  // A review's signer may have signed no receipt, so that `receipt_verify` does not list its key.
  const reviewKeys = trusted ?? keysFromVkeys(reviews.map((one) => one.vkey));
  const of = { paper: filed?.paper, piece, generations, keys: reviewKeys, verify, corrections };
  faults.push(...reviewFaults(reviews, of));
  const evidenceKeys = trusted ?? keysFromVkeys(evidence.map((one) => one.vkey));
  const { revision, basis } = proof;
  faults.push(...evidenceFaults(evidence, { ...of, revision, basis, keys: evidenceKeys }));
  const last = proof.generations.at(-1);
  if (last?.revision !== proof.revision || last.content_hash !== proof.content_hash) {
    faults.push('the newest generation is not the one that the proof is of');
  }
  if (last?.receipt !== proof.receipt) faults.push("receipt is not the newest generation's");
  if (filed?.piece !== proof.id) faults.push(`the receipt is not of piece ${proof.id}`);
  faults.push(...provenanceFaults(proof.basis, filed));
  return [...faults, ...receiptVerifyFaults(proof, text), ...logProofFaults(proof.log, proof.receipt)];
}

/** The faults of `receipt_verify`, the starting point for verification by hand. */
function receiptVerifyFaults({ receipt_verify: how, generations, clock = [] }: Proof, text: string): string[] {
  const faults: string[] = [];
  const listed = (how.vkeys ?? []).map(parseVkey);
  if (listed.includes(null)) faults.push('receipt_verify.vkeys has what is no verifier key');
  const signers = new Set([...generations.map(({ kid }) => kid), ...clock.map((note) => clockIn(note)?.kid)]);
  if (listed.some((one) => one !== null && !signers.has(thumbprint(one.publicKey)))) {
    faults.push('receipt_verify.vkeys lists a key that signed no revision');
  }
  const key = parseVkey(how.vkey);
  if (how.signed !== text) faults.push("receipt_verify.signed is not the receipt's signed text");
  if (key === null) return [...faults, 'receipt_verify.vkey is not a verifier key'];
  if (
    how.key_name !== key.name ||
    how.public_key !== toBase64(key.publicKey) ||
    how.kid !== thumbprint(key.publicKey) ||
    how.kid !== parseReceipt(text)?.kid
  ) {
    faults.push("receipt_verify names a key that is not the receipt's");
  }
  return faults;
}

/** The hash of any value; null when RFC 8785 has no form for it, such as for a lone surrogate. */
export function hashOrNull(value: unknown): string | null {
  try {
    return contentHash(value);
  } catch {
    return null;
  }
}

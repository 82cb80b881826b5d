import * as z from 'zod';
import { type Basis, basisOf, contentHash, type Hashed } from './basis.ts';
import { toBase64 } from './bytes.ts';
import type { Generation } from './chain.ts';
import { clockIn, clockNotesFor, correctionsIn } from './clock-note.ts';
import { chainFaults, checkClockNotes } from './generation.ts';
import { keyOfNote } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey, vkey } from './keyring.ts';
import type { LogProof } from './log/log-proof.ts';
import { logProofFaults } from './log/logged-entries.ts';
import { parseNote, signedText, type Verify } from './note.ts';
import { hashBasis } from './proof-form.ts';
import { parseReceipt } from './receipt.ts';
import { shapeProblems } from './shape.ts';

/** The proof record of one piece (protocol 4.5). */
export interface Proof {
  id: string;
  revision: number;
  content_hash: string;
  basis: Basis;
  hash_basis: string;
  receipt: string;
  receipt_verify: {
    alg: 'Ed25519';
    /** The signed text itself. */
    signed: string;
    key_name: string;
    kid: string;
    /** Base64 of the 32 bytes. */
    public_key: string;
    vkey: string;
    keys_url: string;
    /** The verifier key of every generation's signer, so that a chain across a key rotation can be verified offline. */
    vkeys: string[];
  };
  generations: Generation[];
  /** That the receipt is in the log. */
  log?: LogProof | null;
  /** Corrections of the clock that cover a revision: signed notes. Absent without any. */
  clock?: string[];
}

interface ProofSources {
  /** Those of the piece, oldest first; the last one belongs to `piece`. */
  generations: Generation[];
  keys: VerifyingKey[];
  /** The address of the key document. */
  keysUrl: string;
  /** That the last generation's receipt is in the log. */
  log: LogProof | null;
  /** The corrections of the clock for the paper: signed notes. */
  clock?: readonly string[];
}

/** A proof with all of its members that are not for rare cases. */
type SignedProof = Required<Omit<Proof, 'clock'>> & Pick<Proof, 'clock'>;

/** Builds a proof. Throws when no known key signed the piece's last generation. */
export function proofOf(piece: Hashed, { generations, keys, keysUrl, log, clock = [] }: ProofSources): SignedProof {
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
      alg: 'Ed25519',
      signed: signedText(last.receipt),
      key_name: key.name,
      kid: key.kid,
      public_key: toBase64(key.publicKey),
      vkey: vkey(key.name, key.publicKey),
      keys_url: keysUrl,
      vkeys: used.map(({ name, publicKey }) => vkey(name, publicKey)),
    },
    generations,
    log,
    ...(corrections.length === 0 ? {} : { clock: corrections }),
  };
}

/** Parses verifier keys as signing keys. Omits invalid ones. */
export function keysFromVkeys(vkeys: string[]): VerifyingKey[] {
  return vkeys
    .map(parseVkey)
    .filter((key) => key !== null)
    .map((key) => ({ ...key, kid: thumbprint(key.publicKey), nbf: 0, retired_at: null }));
}

const Shape = z.looseObject({
  id: z.string(),
  revision: z.int(),
  content_hash: z.string(),
  basis: z.looseObject({ v: z.literal(1), id: z.string(), revision: z.int() }),
  receipt: z.string(),
  receipt_verify: z.looseObject({
    alg: z.literal('Ed25519'),
    signed: z.string(),
    key_name: z.string(),
    kid: z.string(),
    public_key: z.string(),
    vkey: z.string(),
    vkeys: z.array(z.string()).optional(),
  }),
  generations: z.array(
    z.looseObject({
      revision: z.int(),
      seq: z.int(),
      content_hash: z.string(),
      receipt_hash: z.string(),
      filed_at: z.string(),
      kid: z.string(),
      receipt: z.string(),
    }),
  ),
  log: z.looseObject({ origin: z.string(), index: z.int(), tlog_proof: z.string() }).nullish(),
  clock: z.array(z.string()).optional(),
});

/** Whether a document has the form of a proof. */
export function isProof(document: unknown): document is Proof {
  return Shape.safeParse(document).success;
}

/**
 * Verifies a proof on its own, or against keys that the caller trusts (protocol 4.6). On its own, a proof shows that
 * the piece, the receipts and the chain belong together, not whose key it is: anyone can sign with a key of their own.
 * Returns every claim that does not hold; empty when all do. A document of the wrong shape is reported the same way,
 * never thrown.
 */
export function proofFaults(document: unknown, verify: Verify, trusted?: VerifyingKey[]): string[] {
  const shape = Shape.safeParse(document);
  if (!shape.success) {
    const problems = shapeProblems(shape.error, document);
    return problems.map(({ field, message }) => `this is not a proof record: ${field}: ${message}`);
  }
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
  const of = { service: 'desk', paper: parseReceipt(text)?.paper ?? null } as const;
  const clock = checkClockNotes(proof.clock ?? [], of, keys, verify);
  faults.push(...clock.faults, ...chainFaults(proof.generations, keys, verify, correctionsIn(clock.statements)));
  const last = proof.generations.at(-1);
  if (last?.revision !== proof.revision || last.content_hash !== proof.content_hash) {
    faults.push('the newest generation is not the one that the proof is of');
  }
  if (last?.receipt !== proof.receipt) faults.push("receipt is not the newest generation's");
  if (parseReceipt(text)?.piece !== proof.id) faults.push(`the receipt is not of piece ${proof.id}`);
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
function hashOrNull(value: unknown): string | null {
  try {
    return contentHash(value);
  } catch {
    return null;
  }
}

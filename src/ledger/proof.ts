import type { Basis, Hashed } from './basis.ts';
import { basisOf, contentHash, HASH_BASIS } from './basis.ts';
import type { Generation } from './generation.ts';
import { chainFaults } from './generation.ts';
import type { DoorKey } from './keyring.ts';
import { thumbprint } from './keyring.ts';
import type { Verify } from './note.ts';
import { parseNote, parseVkey, vkey } from './note.ts';

/** The proof record of one piece (wire.md, "Proof and receipts"). */
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
    /** The verifier key of every generation's signer, so that a chain over a rotation checks offline. */
    vkeys: string[];
  };
  generations: Generation[];
}

/** Puts a proof together. `generations` are the piece's own, oldest first, the last one that of `piece`. */
export function proofOf(
  piece: Hashed,
  generations: Generation[],
  keys: DoorKey[],
  keysUrl: string,
): Proof {
  const last = generations.at(-1);
  const key = keys.find((candidate) => candidate.kid === last?.kid);
  if (last === undefined || key === undefined) {
    throw new Error(`piece ${piece.id} has no generation signed by a known key`);
  }
  const used = keys.filter(({ kid }) => generations.some((generation) => generation.kid === kid));
  return {
    id: piece.id,
    revision: piece.revision,
    content_hash: last.content_hash,
    basis: basisOf(piece),
    hash_basis: HASH_BASIS,
    receipt: last.receipt,
    receipt_verify: {
      alg: 'Ed25519',
      signed: parseNote(last.receipt)?.text ?? '',
      key_name: key.name,
      kid: key.kid,
      public_key: Buffer.from(key.publicKey).toString('base64'),
      vkey: vkey(key.name, key.publicKey),
      keys_url: keysUrl,
      vkeys: used.map(({ name, publicKey }) => vkey(name, publicKey)),
    },
    generations,
  };
}

/** Reads verifier keys as door keys; texts that are none are left out. */
export function keysFromVkeys(vkeys: string[]): DoorKey[] {
  return vkeys
    .map(parseVkey)
    .filter((key) => key !== null)
    .map((key) => ({ ...key, kid: thumbprint(key.publicKey), nbf: 0, retired_at: null }));
}

/**
 * Checks a proof from itself alone, or against keys that the caller trusts.
 * Returns every claim that does not hold; empty when all do. A proof that is
 * not of the right shape is itself such a claim, never an exception.
 */
export function proofFaults(document: unknown, verify: Verify, trusted?: DoorKey[]): string[] {
  if (!isProof(document)) return ['this is not a proof record: a member is missing or of the wrong type'];
  const keys = trusted ?? keysFromVkeys([document.receipt_verify.vkey, ...(document.receipt_verify.vkeys ?? [])]);
  const faults: string[] = [];
  if (contentHash(document.basis) !== document.content_hash) {
    faults.push('content_hash is not the hash of basis: the piece was altered');
  }
  for (const name of ['id', 'revision'] as const) {
    if (document.basis[name] !== document[name]) {
      faults.push(`basis.${name} is ${document.basis[name]}, but the proof is of ${document[name]}`);
    }
  }
  faults.push(...chainFaults(document.generations, keys, verify));
  const last = document.generations.at(-1);
  if (last?.revision !== document.revision || last.content_hash !== document.content_hash) {
    faults.push('the newest generation is not the one that the proof is of');
  }
  if (last?.receipt !== document.receipt) faults.push("receipt is not the newest generation's");
  const note = parseNote(document.receipt);
  if (note === null || !note.text.includes(`\npiece ${document.id}\n`)) {
    faults.push(`the receipt is not of piece ${document.id}`);
  }
  return faults;
}

function isProof(value: unknown): value is Proof {
  const proof = value as Partial<Proof> | null;
  return (
    typeof proof === 'object' &&
    proof !== null &&
    typeof proof.id === 'string' &&
    Number.isInteger(proof.revision) &&
    typeof proof.content_hash === 'string' &&
    typeof proof.basis === 'object' &&
    proof.basis !== null &&
    typeof proof.receipt === 'string' &&
    typeof proof.receipt_verify === 'object' &&
    typeof proof.receipt_verify?.vkey === 'string' &&
    (proof.receipt_verify.vkeys === undefined || Array.isArray(proof.receipt_verify.vkeys)) &&
    Array.isArray(proof.generations) &&
    proof.generations.every(
      (generation) =>
        typeof generation === 'object' &&
        generation !== null &&
        typeof generation.receipt === 'string' &&
        typeof generation.receipt_hash === 'string' &&
        Number.isInteger(generation.revision),
    )
  );
}

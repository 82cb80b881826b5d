import type { Basis } from './basis.ts';
import { LOG_PROOF } from './log/log-proof.ts';
import { isObject, mismatches, type Shape, unknownMembers } from './members.ts';
import { CITED_OBSERVATION } from './records/cited-observation.ts';

/** The description of the content hash that proofs contain. */
const HASH_BASIS =
  'content_hash is "sha256:" and the lower-case hex SHA-256 of the RFC 8785 (JCS) form of basis, in UTF-8; all strings are in Unicode NFC.';

/** Sentences about members that only some pieces have in their basis. */
const HASH_BASIS_WRITER = ' The piece names who wrote it, and so has basis, as written_by.';
const HASH_BASIS_AUTHORS = ' People wrote the piece, and basis names them in authors.';
const HASH_BASIS_ARCHIVE =
  " The piece is from an archive, and basis says so in provenance: it was not checked by this desk's rules.";

/** The description of the content hash of a basis. */
export function hashBasis(basis: object): string {
  return [
    HASH_BASIS,
    'written_by' in basis ? HASH_BASIS_WRITER : '',
    'authors' in basis ? HASH_BASIS_AUTHORS : '',
    'provenance' in basis ? HASH_BASIS_ARCHIVE : '',
  ].join('');
}

/** A revision as listed in a proof. */
export const GENERATION: Shape = {
  revision: 'a whole number',
  seq: 'a whole number',
  content_hash: 'a text',
  receipt_hash: 'a text',
  filed_at: 'a text',
  kid: 'a text',
  receipt: 'a text',
};

/**
 * The members of a proof (protocol 4.5) that a verifier compares with what was signed. The basis is hashed as a whole,
 * whatever its members; the log's proof is a signed statement of its own; the rest of a proof is not signed.
 */
export const PROOF: Shape = {
  id: 'a text',
  revision: 'a whole number',
  content_hash: 'a text',
  basis: 'an object',
  receipt: 'a text',
  receipt_verify: {
    alg: 'Ed25519',
    signed: 'a text',
    key_name: 'a text',
    kid: 'a text',
    public_key: 'a text',
    vkey: 'a text',
    'vkeys?': ['a text'],
  },
  generations: [GENERATION],
  'log??': LOG_PROOF,
  'clock?': ['a text'],
  'reviews?': [{ note: 'a text', vkey: 'a text' }],
  'evidence?': [{ n: 'a whole number', note: 'a text', vkey: 'a text', 'observation?': CITED_OBSERVATION }],
};

const BASIS: Shape = { v: '1', id: 'a text', revision: 'a whole number', 'provenance?': 'archive' };

/** How a document differs from the form of a proof; empty when it has that form. */
export function formFaults(document: unknown): string[] {
  const faults = mismatches(document, PROOF);
  return faults.length > 0 ? faults : mismatches((document as { basis: unknown }).basis, BASIS, 'basis');
}

/**
 * A piece with provenance `archive` must not be filed with a key: only the desk's operator imports pieces (protocol
 * 4.1).
 */
export function provenanceFaults({ provenance }: Partial<Basis>, receipt: { filed_by: string } | null): string[] {
  if (provenance !== 'archive' || receipt?.filed_by === 'cli') return [];
  return [`basis.provenance is archive, but ${receipt?.filed_by ?? 'nobody'} filed the piece, not cli`];
}

/**
 * The paths of unsigned members in a proof, such as `published_at`. They are not faults, because the format may grow,
 * but no verifier may present them as checked.
 */
export function unsignedIn(proof: object): string[] {
  const { basis, hash_basis } = proof as Record<string, unknown>;
  const isRecipe = hash_basis === hashBasis(isObject(basis) ? basis : {});
  return unknownMembers(proof, PROOF).filter((path) => !(isRecipe && path === 'hash_basis'));
}

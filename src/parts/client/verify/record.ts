import { mismatches, type Shape } from '../../../proof/members.ts';
import type { Proof } from '../../../proof/proof.ts';
import { PROOF } from '../../../proof/proof-form.ts';

/** The parts of a proof that the checks read. */
export type ProofRecord = Pick<
  Proof,
  'id' | 'revision' | 'content_hash' | 'basis' | 'receipt' | 'generations' | 'log' | 'clock' | 'reviews' | 'evidence'
>;

/** The page uses the paper's key document, so it ignores `receipt_verify`. */
const { receipt_verify: _unread, ...READ } = PROOF;

const SHOWN: Shape = {
  ...READ,
  basis: {
    v: '1',
    id: 'a text',
    revision: 'a whole number',
    'provenance?': 'archive',
    headline: 'a text',
    dek: 'a text',
    prose: 'a text',
    category: 'a text',
    byline: { name: 'a text', title: 'a text' },
    cited_facts: [
      { n: 'a number', statement: 'a text', source: 'a text', instrument: 'a text', 'claim_key??': 'a text' },
    ],
  },
};

/** A parsed proof.json as a proof record; null when it is not a proof, or has a newer format. */
export function proofRecord(document: unknown): ProofRecord | null {
  return mismatches(document, SHOWN).length === 0 ? (document as ProofRecord) : null;
}

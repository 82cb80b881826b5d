import { LOG_PROOF } from '../../../proof/log/log-proof.ts';
import { hasShape, type Shape } from '../../../proof/members.ts';
import type { Proof } from '../../../proof/proof.ts';
import { GENERATION } from '../../../proof/proof-form.ts';

/** The parts of a proof that the checks read. */
export type ProofRecord = Pick<
  Proof,
  'id' | 'revision' | 'content_hash' | 'basis' | 'receipt' | 'generations' | 'log' | 'clock'
>;

const PROOF: Shape = {
  id: 'a text',
  revision: 'a whole number',
  content_hash: 'a text',
  receipt: 'a text',
  basis: {
    v: 'a number',
    id: 'a text',
    revision: 'a whole number',
    headline: 'a text',
    dek: 'a text',
    prose: 'a text',
    category: 'a text',
    byline: { name: 'a text', title: 'a text' },
    cited_facts: [{ n: 'a number', statement: 'a text', source: 'a text', instrument: 'a text' }],
  },
  generations: [GENERATION],
  'log??': LOG_PROOF,
  'clock?': ['a text'],
};

/** A parsed proof.json as a proof record; null when it is not a proof, or has a newer format. */
export function proofRecord(document: unknown): ProofRecord | null {
  return hasShape(document, PROOF) && (document as ProofRecord).basis.v === 1 ? (document as ProofRecord) : null;
}

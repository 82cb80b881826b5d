import type { Proof } from '../../../ledger/proof.ts';
import type { Shape } from './shape.ts';
import { has } from './shape.ts';

/** Of a proof, all that the checks read. */
export type ProofRecord = Pick<Proof, 'id' | 'revision' | 'content_hash' | 'basis' | 'receipt' | 'generations'>;

const PROOF: Shape = {
  id: 'string',
  revision: 'number',
  content_hash: 'string',
  receipt: 'string',
  basis: {
    v: 'number',
    id: 'string',
    revision: 'number',
    headline: 'string',
    dek: 'string',
    prose: 'string',
    category: 'string',
    byline: { name: 'string', title: 'string' },
    cited_facts: [{ n: 'number', statement: 'string', source: 'string', instrument: 'string' }],
  },
  generations: [
    {
      revision: 'number',
      seq: 'number',
      content_hash: 'string',
      receipt_hash: 'string',
      filed_at: 'string',
      kid: 'string',
      receipt: 'string',
    },
  ],
};

/** A parsed proof.json as a proof record; null when it is none, or of a form that came after this program. */
export function proofRecord(document: unknown): ProofRecord | null {
  return has(document, PROOF) && (document as ProofRecord).basis.v === 1 ? (document as ProofRecord) : null;
}

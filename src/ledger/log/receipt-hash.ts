import { sha256 } from '../basis.ts';
import { leafText } from './leaf.ts';

/** The leaf of a signed note that is not public: of a draft, of a private paper's piece, of an observation. */
export function receiptHashLeaf(note: string): string {
  return leafText({ kind: 'receipt-hash', hash: sha256(note) });
}

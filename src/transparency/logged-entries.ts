import { sha256 } from '../ledger/basis.ts';
import { leafText } from '../ledger/log/leaf.ts';

/** The entries that stand for a signed note in the log: the note itself when it is public, else its hash. */
export function loggedEntries(note: string): [note: string, hash: string] {
  return [note, leafText({ kind: 'receipt-hash', hash: sha256(note) })];
}

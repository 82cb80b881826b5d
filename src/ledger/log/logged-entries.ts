import { receiptHashLeaf } from './receipt-hash.ts';

/** The entries that stand for a signed note in the log: the note itself when it is public, else its hash. */
export function loggedEntries(note: string): [note: string, hash: string] {
  return [note, receiptHashLeaf(note)];
}

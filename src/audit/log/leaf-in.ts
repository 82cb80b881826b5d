import { type Leaf, parseLeaf } from '../../ledger/log/leaf.ts';
import { LogFault, shown } from '../../ledger/log/log-fault.ts';

/** Parses an entry as it was read. Throws a LogFault. */
export function leafIn(entry: Uint8Array): Leaf {
  const text = Buffer.from(entry).toString('utf8');
  // Decoding replaces what is not UTF-8, which would give two entries the same text.
  if (!Buffer.from(text).equals(entry)) throw new LogFault(`the entry is not UTF-8: ${shown(text)}`);
  return parseLeaf(text);
}

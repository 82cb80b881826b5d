import { thumbprint } from '../../../proof/keyring.ts';
import { type Leaf, parseLeaf } from '../../../proof/log/leaf.ts';
import { LogFault, shown } from '../../../proof/log/log-fault.ts';

/** Why a leaf that announces a key is wrong; null for a right one, and for every other leaf. */
export function keyLeafFault(leaf: Leaf): string | null {
  if (leaf.kind !== 'key') return null;
  const kid = thumbprint(publicKeyIn(leaf));
  return kid === leaf.kid ? null : `it announces key ${leaf.kid}, but the thumbprint of its x is ${kid}`;
}

/** The public key that a leaf announces. */
export function publicKeyIn({ x }: { x: string }): Uint8Array {
  return new Uint8Array(Buffer.from(x, 'base64url'));
}

/** Parses an entry as it was read. Throws a LogFault. */
export function leafIn(entry: Uint8Array): Leaf {
  const text = Buffer.from(entry).toString('utf8');
  // Decoding replaces invalid UTF-8, which would give two different entries the same text.
  if (!Buffer.from(text).equals(entry)) throw new LogFault(`the entry is not UTF-8: ${shown(text)}`);
  return parseLeaf(text);
}

import { contentHash, sha256 } from './basis.ts';
import type { FactVersion } from './fact-note.ts';
import { signedText } from './note.ts';

/** The hash of a version's RFC 8785 form, in NFC. */
export function factHash(fact: FactVersion): string {
  const { claim_key, version, statement, source, instrument, quote, status, note } = fact;
  return contentHash({ v: 1, claim_key, version, statement, source, instrument, quote, status, note });
}

/** The hash that the next version states as its `prev`. */
export function factNoteHash(note: string): string {
  return sha256(signedText(note));
}

import { escapeLabel } from './escape.ts';
import { WireError } from './wire-error.ts';

/** The most octets of a name with its length bytes (RFC 1035, section 2.3.4). */
const LONGEST_NAME = 255;
/** A name has at most 127 labels, and no writer needs more pointers than labels. */
const MOST_POINTERS = 127;

/** A name as text, and the offset after it. */
export interface ReadName {
  /** Lower case, without a trailing dot, with special bytes escaped; the root is `.`. */
  name: string;
  end: number;
}

/**
 * Parses a name, compressed or not (RFC 1035, section 4.1.4). A pointer must lead to an offset before the part of the
 * name that it continues, which rules out loops. Throws a WireError.
 */
export function readName(bytes: Uint8Array, start: number): ReadName {
  const labels: string[] = [];
  let octets = 1;
  let pointers = 0;
  let end: number | null = null;
  let part = start;
  let at = start;
  for (;;) {
    const size = bytes[at];
    if (size === undefined) throw new WireError('a name runs past the end');
    if (size === 0) return { name: labels.join('.') || '.', end: end ?? at + 1 };
    if (size >= 0xc0) {
      const low = bytes[at + 1];
      if (low === undefined) throw new WireError('a pointer runs past the end');
      const target = ((size & 0x3f) << 8) | low;
      if (target >= part || ++pointers > MOST_POINTERS) throw new WireError('a pointer leads nowhere');
      end ??= at + 2;
      part = target;
      at = target;
      continue;
    }
    if (size > 63) throw new WireError('a label of an unknown kind');
    octets += size + 1;
    if (octets > LONGEST_NAME) throw new WireError('a name is too long');
    if (at + 1 + size > bytes.length) throw new WireError('a label runs past the end');
    labels.push(escapeLabel(bytes.subarray(at + 1, at + 1 + size)));
    at += size + 1;
  }
}

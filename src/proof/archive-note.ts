import { parseNote } from './note.ts';
import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from './signed-lines.ts';

/**
 * The note of an archive's manifest (protocol 5.10), signed with the key of the records and logged as a leaf of their
 * log. It states which observations are in the archive and, by the manifest's hash, which objects contain them.
 */

/** The first line of every such note. */
export const ARCHIVE_HEADER = 'archive/v1';

/** The content of a manifest's note. */
export interface ArchiveStatement {
  /** Counts the manifests of an archive, from 1, without gaps. */
  generation: number;
  /** Every observation up to this number is in the archive, or was erased. */
  through: number;
  /** `sha256:<hex>` of the manifest without its note, in canonical form (RFC 8785). */
  manifest: string;
  /** `sha256:<hex>` of the signed text of the manifest before; null for the first. */
  prev: string | null;
  /** ISO 8601, UTC, milliseconds. */
  signed_at: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte. Throws for a value that the format cannot hold. */
export function archiveText({ generation, through, manifest, prev, signed_at, kid }: ArchiveStatement): string {
  const text = `${ARCHIVE_HEADER}\ngeneration ${generation}\nthrough ${through}\nmanifest ${manifest}\nprev ${prev ?? 'none'}\nsigned_at ${signed_at}\nkid ${kid}\n`;
  if (linesIn(text) === null) throw new TypeError(`a manifest cannot say ${JSON.stringify(text)}`);
  return text;
}

const linesIn = linesParser(ARCHIVE_HEADER, {
  generation: NUMBER,
  through: NUMBER,
  manifest: HASH,
  prev: PREVIOUS,
  signed_at: TIME,
  kid: WORD,
});

/** Parses a manifest's note without verifying it; null for any other note. */
export function archiveIn(note: string): ArchiveStatement | null {
  const lines = linesIn(parseNote(note)?.text ?? '');
  if (lines === null) return null;
  const { generation, through, prev } = lines;
  return { ...lines, generation: Number(generation), through: Number(through), prev: prev === 'none' ? null : prev };
}

import { list } from '../../phrases/intl.ts';
import type { Author } from '../../proof/basis.ts';
import type { Piece } from './piece.ts';

/** The parts of a piece that say who wrote it. */
type Signed = Pick<Piece, 'authors' | 'written_by' | 'credit'>;

/**
 * The people who wrote a piece, as they are shown; empty when the persona did. One line that an earlier version filed
 * stays one name: a comma or an "and" may be part of a name, so that nobody can tell where to divide it.
 */
export function writersOf({ authors, written_by, credit }: Signed): Author[] {
  if (authors.length > 0) return authors;
  const line = written_by ?? creditedWriter(credit);
  return line === null ? [] : [{ name: line }];
}

/** The names in one line of a language, for a byline; null when there are none. */
export function writerLine(writers: readonly Author[], language: string): string | null {
  return writers.length === 0
    ? null
    : list(
        language,
        writers.map(({ name }) => name),
      );
}

/** The sentences that `broadsheet import` puts after the writer, today and in earlier versions. */
const CREDITED = /^Written by ([^\n]+?)\.(?= (?:First published at|Licence:|Changes:|The mark-up was changed:) |$)/;

/**
 * The writer that a credit names, in the form in which imports have always written it; null for any other credit.
 * Pieces that were imported before filings had `written_by` are shown with it: their signed text stays as it is.
 */
export function creditedWriter(credit: string | null): string | null {
  return CREDITED.exec(credit ?? '')?.[1] ?? null;
}

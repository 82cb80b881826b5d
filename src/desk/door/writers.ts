import { list } from '../../phrases/intl.ts';
import type { Author } from '../../proof/basis.ts';
import type { Piece } from './piece.ts';

/** The members of a piece that tell who wrote it. */
type Signed = Pick<Piece, 'authors' | 'written_by' | 'credit'>;

/**
 * The people who wrote a piece, as shown to readers; empty when the persona wrote it. A credit line from an earlier
 * version stays one name, because a comma or an "and" may be part of a name.
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

/** The credit that `broadsheet import` writes after the writer's name, now and in earlier versions. */
const CREDITED = /^Written by ([^\n]+?)\.(?= (?:First published at|Licence:|Changes:|The mark-up was changed:) |$)/;

/**
 * The writer that a credit names, in the form that imports have always used; null for any other credit. Pieces imported
 * before filings had `written_by` get their writer from it: their signed text stays unchanged.
 */
export function creditedWriter(credit: string | null): string | null {
  return CREDITED.exec(credit ?? '')?.[1] ?? null;
}

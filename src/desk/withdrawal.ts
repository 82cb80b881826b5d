import { phrasesOf } from '../phrases/tables.ts';
import type { DeskRow, Story } from './archive.ts';

/** What a withdrawn piece is called by. */
interface Named {
  slug: string;
  headline: string;
  headline_withheld: boolean;
}

/**
 * What may name a withdrawn piece wherever it is mentioned: its headline, and the slug, which often says the same. Null
 * where its desk withholds them; the mention then says that a piece was withdrawn. The address of
 * the piece stays, but nothing leads there.
 */
export function noticeOf({ slug, headline, headline_withheld }: Named): { slug: string; headline: string } | null {
  return headline_withheld ? null : { slug, headline };
}

/**
 * A piece as its own desk sees it. Where the headline is withheld nothing of the text is left, since a lede says what a
 * headline does; the slug stays, by which the desk names the piece.
 */
export function shownToDesk<Piece extends DeskRow | Story>(piece: Piece): Piece {
  if (noticeOf(piece) !== null) return piece;
  const row = {
    headline: phrasesOf(piece.language).withdrawn.withheld,
    dek: '',
    image: null,
    writers: [],
    writer: null,
    tags: [],
  };
  if (!('prose' in piece)) return { ...piece, ...row };
  const text = { prose: '', cited_facts: [], credit: null, authors: [], written_by: null, corrections: [] };
  return { ...piece, ...row, ...text };
}
